/// What sets the words of a programming language apart: a row of a table, not a grammar.
struct CodeLanguage: Sendable {
  /// A string or a comment that ends with a sign of its own.
  struct Enclosure: Sendable {
    let start: [Unicode.Scalar]
    let end: [Unicode.Scalar]
    var isComment = false

    /// Whether it goes on in the next line.
    var spansLines: Bool { isComment || start.count > 1 || start == ["`"] }
  }

  /// The longest word that can be a keyword.
  static let longestWord = 16

  private let names: [Substring]
  private let keywords: Set<Substring>
  private let ignoresCase: Bool
  /// The signs that make the rest of a line a comment.
  private(set) var lineComments: [[Unicode.Scalar]] = []
  /// Strings and comments, the longer signs first.
  private(set) var enclosures: [Enclosure] = []
  /// The signs that make a keyword of the word after them.
  private(set) var sigils: Set<Unicode.Scalar> = []

  private init(_ names: String, _ signs: String, _ keywords: String, ignoresCase: Bool = false) {
    self.names = names.split(separator: " ")
    let common = signs.hasPrefix("//") ? Self.common : ""
    self.keywords = Set((common + keywords).split(whereSeparator: \.isWhitespace))
    self.ignoresCase = ignoresCase
    for sign in signs.split(separator: " ") {
      let start = Array(sign.unicodeScalars)
      switch sign {
      case "//", "#", "--": lineComments.append(start)
      case "/*": enclosures.append(Enclosure(start: start, end: ["*", "/"], isComment: true))
      case "<!--":
        enclosures.append(Enclosure(start: start, end: ["-", "-", ">"], isComment: true))
      case "\"", "'", "`", "\"\"\"", "'''": enclosures.append(Enclosure(start: start, end: start))
      default: sigils.formUnion(start)
      }
    }
  }

  /// Takes the language that the text after a fence names; nil if it names none that is known.
  init?(info: ArraySlice<some MarkupUnit>) {
    let signs = info.drop { $0.isBlank }.prefix(Self.longestWord).prefix { unit in
      unit.isOfWord || unit.plain == "+" || unit.plain == "#"
    }
    let name = String(String.UnicodeScalarView(signs.compactMap(\.plain))).lowercased()[...]
    guard let language = Self.all.first(where: { $0.names.contains(name) }) else { return nil }
    self = language
  }

  /// Whether a word has a meaning of its own.
  func isKeyword(_ word: some Sequence<Unicode.Scalar>) -> Bool {
    let word = String(String.UnicodeScalarView(word))
    return keywords.contains((ignoresCase ? word.lowercased() : word)[...])
  }

  /// The keywords of every language whose comments start with two slashes.
  private static let common = "break case continue default do else for if return switch while "

  private static let all = [
    CodeLanguage(
      "swift",
      #"// /* """ " @#"#,
      """
      actor any as associatedtype async await catch class defer deinit enum extension fallthrough
      false fileprivate final func guard import in init inout internal is let mutating nil open
      override package private protocol public repeat rethrows self Self some static struct
      subscript super throw throws true try typealias var weak where
      """
    ),
    CodeLanguage(
      "c h cpp c++ cc hpp cs c# java kotlin kt scala",
      #"// /* """ " ' @#"#,
      """
      abstract auto bool boolean byte catch char class const constexpr delete double enum extends
      extern false final finally float fun goto implements import inline int interface long
      namespace new null nullptr object override package private protected public register
      short signed sizeof static struct super template this throw throws true try typedef
      typename union unsigned using val var virtual void volatile when
      """
    ),
    CodeLanguage(
      "javascript js jsx typescript ts tsx",
      #"// /* ` " ' @"#,
      """
      as async await catch class const debugger delete enum export extends false finally from
      function implements import in instanceof interface let new null of private public readonly
      static super this throw true try type typeof undefined var void yield
      """
    ),
    CodeLanguage(
      "go golang",
      #"// /* ` " '"#,
      """
      chan const defer fallthrough false func go goto import interface map nil package range
      select struct true type var
      """
    ),
    CodeLanguage(
      "rust rs",
      #"// /* ""#,
      """
      as async await const crate dyn enum extern false fn impl in let loop match mod move mut pub
      ref self Self static struct super trait true type unsafe use where
      """
    ),
    CodeLanguage(
      "python py",
      #"# """ ''' " ' @"#,
      """
      False None True and as assert async await break case class continue def del elif else except
      finally for from global if import in is lambda match nonlocal not or pass raise return try
      while with yield
      """
    ),
    CodeLanguage(
      "ruby rb",
      #"# " '"#,
      """
      alias and begin break case class def do else elsif end ensure false for if in module next nil
      not or raise redo rescue retry return self super then true unless until when while yield
      """
    ),
    CodeLanguage(
      "sh bash zsh shell console",
      #"# " '"#,
      """
      break case cd continue do done echo elif else esac eval exec exit export fi for function if in
      local readonly return set shift source then trap unset until while
      """
    ),
    CodeLanguage(
      "sql",
      #"-- /* ' ""#,
      """
      add all alter and as asc begin between by case check commit create cross default delete desc
      distinct drop else end exists foreign from full group having in index inner insert into is
      join key left like limit not null offset on or order outer primary references returning right
      rollback select set table then union unique update values view when where with
      """,
      ignoresCase: true
    ),
    CodeLanguage("json json5 jsonc", #"// /* ""#, "false null true"),
    CodeLanguage("yaml yml toml ini conf", #"# ""#, "false no null off on true yes"),
    CodeLanguage("html xml svg", #"<!-- ""#, ""),
  ]
}

/// Finds keywords, strings, comments and numbers in the lines of a code block, one after the other.
struct CodeReader<Unit: MarkupUnit> {
  private typealias Run = LightMarkdown<Unit>.Run
  private typealias Look = LightMarkdown<Unit>.Look

  private let language: CodeLanguage
  /// What an earlier line has left open.
  private var open: CodeLanguage.Enclosure?

  init(_ language: CodeLanguage) { self.language = language }

  /// The runs of the next line.
  ///
  /// - Complexity: O(n) in the number of units
  mutating func runs(_ units: [Unit]) -> [LightMarkdown<Unit>.Run] {
    let signs = units.map(\.plain)
    var runs: [Run] = []
    var index = 0
    while index < units.count {
      let start = index
      let look = take(signs, units, from: &index)
      let looks: Set<Look> = look.map { [$0] } ?? []
      // Field by field: a copy of the last run would make each append copy its units.
      if let last = runs.indices.last, runs[last].looks == looks {
        runs[last].units += units[start..<index]
      } else {
        runs.append(Run(units: Array(units[start..<index]), looks: looks))
      }
    }
    if open?.spansLines == false { open = nil }
    return runs
  }

  /// Takes the part that starts at an index, and says how it looks.
  private mutating func take(
    _ signs: [Unicode.Scalar?],
    _ units: [Unit],
    from index: inout Int
  ) -> Look? {
    if let open {
      take(to: open, signs, from: &index)
      return open.isComment ? .comment : .string
    }
    func isOfWord(_ place: Int) -> Bool {
      place < units.count && (units[place].isOfWord || signs[place] == "_")
    }
    if let start = language.enclosures.first(where: { has($0.start, at: index, in: signs) }) {
      open = start
      index += start.start.count
      return start.isComment ? .comment : .string
    }
    if language.lineComments.contains(where: { has($0, at: index, in: signs) }),
      // In a shell, `$#` is not a comment.
      signs[index] != "#" || index == 0 || units[index - 1].isBlank
    {
      index = units.count
      return .comment
    }
    let start = index
    let isMarked = signs[index].map(language.sigils.contains) == true && isOfWord(index + 1)
    if isMarked { index += 1 }
    let isNumber = signs[index].map { ("0"..."9").contains($0) } == true
    while isOfWord(index) || isNumber && isOfWord(index + 1) && signs[index] == "." { index += 1 }
    if isMarked { return .keyword }
    if isNumber { return .number }
    guard index > start else {
      index += 1
      return nil
    }
    guard index - start <= CodeLanguage.longestWord else { return nil }
    return language.isKeyword(signs[start..<index].map { $0 ?? "\u{FFFD}" }) ? .keyword : nil
  }

  /// Goes to the end of what is open, or of the line.
  private mutating func take(
    to enclosure: CodeLanguage.Enclosure,
    _ signs: [Unicode.Scalar?],
    from index: inout Int
  ) {
    while index < signs.count {
      if !enclosure.isComment, signs[index] == "\\" {
        index = min(signs.count, index + 2)
      } else if has(enclosure.end, at: index, in: signs) {
        index += enclosure.end.count
        open = nil
        return
      } else {
        index += 1
      }
    }
  }

  private func has(_ sign: [Unicode.Scalar], at index: Int, in signs: [Unicode.Scalar?]) -> Bool {
    signs[index] == sign.first && signs[index...].starts(with: sign.map(Optional.some))
  }
}
