import Foundation
import Testing

/// A page of the documentation, with its blocks of shell commands.
struct DocumentationPage: CustomTestStringConvertible, Sendable {
  let name: String
  let text: String

  var testDescription: String { name }

  /// README and the pages of `assets/docs`.
  static let all: [DocumentationPage] = {
    let docs = Sandbox.package + "/assets/docs"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: docs)) ?? []
    let paths = names.filter { $0.hasSuffix(".md") }.sorted().map { docs + "/" + $0 }
    return ([Sandbox.package + "/README.md"] + paths).compactMap { path in
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
      return DocumentationPage(name: (path as NSString).lastPathComponent, text: text)
    }
  }()

  /// The shell blocks, with lines that end in a backslash joined to the next.
  var blocks: [String] { Self.blocks(of: text) }

  /// The blocks that can be run here: without those marked with a remark that says why they are not
  /// run, and without those that build, which `.ci/run` runs.
  var runnableBlocks: [String] {
    Self.blocks(of: text.replacing(/<!-- not run: [^>]+ -->\n```sh\n/, with: "```\n"))
      .filter { !$0.contains("apt-get") }
  }

  private static func blocks(of text: String) -> [String] {
    text.components(separatedBy: "```sh\n").dropFirst().map { part in
      part.components(separatedBy: "\n```")[0]
        .replacingOccurrences(of: "\\\n", with: " ")
    }
  }

  /// The hearth commands as words, without trailing comments.
  var commands: [[String]] {
    blocks.flatMap { $0.split(separator: "\n") }.compactMap { line in
      let code = line.components(separatedBy: " #")[0]
      guard let start = code.range(of: "hearth "), !code.contains("swift run") else {
        return nil
      }
      let before = code[..<start.lowerBound]
      guard before.isEmpty || before.hasSuffix("$(") else { return nil }
      return code[start.upperBound...].split(separator: " ")
        .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "()\"")) }
    }
  }

  /// The code before a page's blocks, so that they run in their own directory.
  ///
  /// Commands are as on the page apart from addresses: remote machines are replaced by this one,
  /// ports by free ones, stores by those of PostgreSQL in the environment. A server runs in the
  /// background and replaces the previous one; a screen is a terminal in tmux, which is closed once
  /// it shows something. A swarm rages for some seconds. Passwords are provided here.
  static let shell = #"""
    set -euo pipefail
    cd "$HOME"
    ln -sfn "$assets" assets
    server= port= second= screens=0
    finish() {
      if [ -n "$server" ]; then kill "$server"; wait "$server" || true; server=; fi
    }
    leave() {
      finish
      if [ -n "$second" ]; then kill "$second"; wait "$second" || true; fi
      tmux -S "$HOME/tmux-$screens" kill-server 2> /dev/null || true
      "$program" stop > /dev/null 2>&1 || true
    }
    trap leave EXIT
    port() { sed -n 's/.*"port":\([0-9]*\).*/\1/p' "$1"; }
    # screen TEXT ARGUMENTS: runs hearth in a terminal until it shows a text. Each has a socket of its
    # own, because a tmux that is ending would still answer on the socket of the one before.
    screen() {
      local text=$1 socket
      shift
      screens=$((screens + 1))
      socket=$HOME/tmux-$screens
      tmux -S "$socket" -f /dev/null new-session -d -x 100 -y 30 "$program" "$@"
      for _ in $(seq 400); do
        if tmux -S "$socket" capture-pane -p 2> /dev/null | grep -q -- "$text"; then
          tmux -S "$socket" kill-server
          return
        fi
        sleep 0.05
      done
      echo "the screen of hearth $* does not show $text:" >&2
      tmux -S "$socket" capture-pane -p >&2
      return 1
    }
    hearth() {
      local word before= words=()
      for word in "$@"; do
        word=${word//https:\/\/blog.example.org:9000/https:\/\/localhost:$port}
        word=${word//0.0.0.0/127.0.0.1}
        case "$before $word" in
          "--port "*) word=0 ;;
          "--seconds "*) word=8 ;;
          # One of the test's own databases stays what it is.
          *" postgres://hearth@127.0.0.1"*) ;;
          *" postgres://"*) if [ "$1" = migrate ]; then word=$EMPTY_STORE; else word=$STORE; fi ;;
        esac
        before=$word
        words+=("$word")
      done
      case "$*" in
        serve*)
          finish
          [[ " $* " == *" --port "* ]] || words+=(--port 0)
          : > ready
          "$program" "${words[@]}" > ready 2> errors & server=$!
          for _ in $(seq 400); do
            if grep -q '"ready":true' ready || ! kill -0 "$server" 2> /dev/null; then break; fi
            sleep 0.05
          done
          port=$(port ready)
          if [ -z "$port" ]; then cat errors >&2; return 1; fi ;;
        watch*)
          # It runs until it is ended; the first lines are enough.
          timeout 3 "$program" "${words[@]}" || [ $? = 124 ] ;;
        "databases move"*)
          # A database is led once somebody has used it, by the server whose turn it is.
          command curl -sSk -m 20 "https://127.0.0.1:$port/.json?ns=$3" > /dev/null
          command curl -sS -m 20 "http://127.0.0.1:$(port second.out)/.json?ns=$3" > /dev/null
          "$program" "${words[@]}" ;;
        "profile add"*) "$program" "${words[@]}" --ca-file ca.pem ;;
        sign-up* | sign-in*) echo "correct horse" | "$program" "${words[@]}" --password-stdin ;;
        "users add"*)
          # Without optimization, and with other tests beside it, a password is hashed for seconds.
          echo "correct horse" | "$program" "${words[@]}" --password-stdin --timeout 60 ;;
        --profile*) screen 'Make an account' "${words[@]}" ;;
        --script*--show) screen 'Recent' "${words[@]}" ;;
        replay*--script) "$program" "${words[@]}" ;;
        replay*) screen 'The beginning' "${words[@]}" ;;
        *) "$program" "${words[@]}" ;;
      esac
    }
    curl() {
      # A stream ends with the time that there is. What is refused is not an example.
      command curl -fsS -m 3 "${@//127.0.0.1:9000/127.0.0.1:$port}" || [ $? = 28 ]
    }
    """#
}
