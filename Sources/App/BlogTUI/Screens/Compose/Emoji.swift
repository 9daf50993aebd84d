/// The emoji that can be written by their common names, the most used first.
enum Emoji {
  /// Each as an item that completes its name.
  static let all: [Completer.Item] = {
    let words = table.split { $0 == " " || $0 == "\n" }.map { String($0) }
    return stride(from: 0, to: words.count - 1, by: 2).map { index in
      let (emoji, name) = (words[index], words[index + 1])
      let title = SafeText(untrusted: emoji) + " " + SafeText(untrusted: name)
      return Completer.Item(key: name, title: title, text: emoji)
    }
  }()

  private static let table = """
    😂 joy 🙂 slightly_smiling_face 😄 smile 😀 grinning 😃 smiley 😁 grin 😅 sweat_smile
    😆 laughing 🤣 rofl 😊 blush 😉 wink 😍 heart_eyes 🥰 smiling_face_with_three_hearts
    😘 kissing_heart 😋 yum 😛 stuck_out_tongue 😜 stuck_out_tongue_winking_eye 🤪 zany_face
    🤗 hugs 🤔 thinking 🤨 raised_eyebrow 😐 neutral_face 😑 expressionless 😏 smirk
    🙄 roll_eyes 😬 grimacing 😌 relieved 😔 pensive 😴 sleeping 😎 sunglasses 🤓 nerd_face
    🧐 monocle_face 😕 confused 😟 worried 🙁 slightly_frowning_face 😮 open_mouth 😲 astonished
    😳 flushed 🥺 pleading_face 😢 cry 😭 sob 😱 scream 😞 disappointed 😩 weary 😫 tired_face
    🥱 yawning_face 😤 triumph 😠 angry 😡 rage 🤯 exploding_head 🥳 partying_face 😇 innocent
    🤠 cowboy_hat_face 🤡 clown_face 🤫 shushing_face 🤭 hand_over_mouth 😷 mask 🤒 thermometer_face
    🤢 nauseated_face 🤧 sneezing_face 🥵 hot_face 🥶 cold_face 😵 dizzy_face 👻 ghost 💀 skull
    👽 alien 🤖 robot 💩 poop 🙈 see_no_evil 🙉 hear_no_evil 🙊 speak_no_evil 🫠 melting_face
    👍 thumbsup 👍 +1 👎 thumbsdown 👏 clap 🙌 raised_hands 🙏 pray 🤝 handshake 👋 wave
    👌 ok_hand 🤞 crossed_fingers 🤘 metal 👈 point_left 👉 point_right 👆 point_up_2
    👇 point_down 💪 muscle ✋ raised_hand ✊ fist 👊 facepunch 🤷 shrug 🤦 facepalm 🙋 raising_hand
    👀 eyes 🧠 brain 💃 dancer 🏃 runner
    ❤️ heart 🧡 orange_heart 💛 yellow_heart 💚 green_heart 💙 blue_heart 💜 purple_heart
    🖤 black_heart 💔 broken_heart 💕 two_hearts 💖 sparkling_heart 💯 100 💥 boom 💫 dizzy
    💬 speech_balloon 💤 zzz 🔥 fire ✨ sparkles ⭐ star 🌟 star2 🎉 tada 🎊 confetti_ball
    🎈 balloon 🎁 gift 🏆 trophy 🥇 first_place_medal 🏅 medal_sports 🎯 dart 🚀 rocket
    ✅ white_check_mark ❌ x ❗ exclamation ❓ question 🚫 no_entry_sign ⛔ no_entry 🚧 construction
    🚨 rotating_light 🆕 new 🆗 ok 🔴 red_circle 🟢 green_circle 🟡 yellow_circle 🔵 large_blue_circle
    💡 bulb 🐛 bug 🔧 wrench 🔨 hammer 🔒 lock 🔓 unlock 🔑 key 🔍 mag 🔗 link 📌 pushpin 📎 paperclip
    📝 memo 📖 book 📚 books 📅 date 📈 chart_with_upwards_trend 📉 chart_with_downwards_trend
    📊 bar_chart 📦 package 📣 mega 🔔 bell 📷 camera 📱 iphone 💻 computer 💾 floppy_disk 🔋 battery
    🔌 electric_plug 💰 moneybag ⏰ alarm_clock ⌛ hourglass ⏳ hourglass_flowing_sand ⚡ zap
    🌈 rainbow ⛄ snowman 🌊 ocean 💧 droplet 🌙 crescent_moon 🌞 sun_with_face 🌍 earth_africa
    🌱 seedling 🌳 deciduous_tree 🌲 evergreen_tree 🌵 cactus 🌷 tulip 🌹 rose 🌻 sunflower
    🍀 four_leaf_clover 🍁 maple_leaf 🍂 fallen_leaf 🍄 mushroom 🌶️ hot_pepper 🍎 apple 🍌 banana
    🍓 strawberry 🍒 cherries 🍋 lemon 🍅 tomato 🥕 carrot 🥑 avocado 🍞 bread 🧀 cheese 🍕 pizza
    🍔 hamburger 🍟 fries 🌮 taco 🍜 ramen 🍣 sushi 🍦 icecream 🍩 doughnut 🍪 cookie 🎂 birthday
    🍰 cake 🍫 chocolate_bar ☕ coffee 🍵 tea 🍺 beer 🍻 beers 🍷 wine_glass 🍸 cocktail 🥂 clinking_glasses
    🐶 dog 🐱 cat 🐭 mouse 🐰 rabbit 🦊 fox_face 🐻 bear 🐼 panda_face 🐨 koala 🦁 lion 🐮 cow 🐷 pig
    🐸 frog 🐵 monkey_face 🐔 chicken 🐧 penguin 🐦 bird 🦉 owl 🐢 turtle 🐍 snake 🐙 octopus
    🐟 fish 🐬 dolphin 🐳 whale 🐝 honeybee 🦋 butterfly 🐌 snail 🦄 unicorn 🐘 elephant
    ⚽ soccer 🏀 basketball 🎾 tennis 🎮 video_game 🎲 game_die 🎨 art 🎬 clapper 🎤 microphone
    🎧 headphones 🎵 musical_note 🎶 notes 🎸 guitar 🎹 musical_keyboard 🚗 car 🚲 bike 🚂 steam_locomotive
    🚢 ship 🏠 house 🏡 house_with_garden 🏢 office 🏕️ camping ⛺ tent 🪵 wood 🕯️ candle
    """
}
