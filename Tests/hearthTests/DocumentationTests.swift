import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// What README and the pages of `assets/docs` tell people to type.
  @Suite("Documentation")
  struct DocumentationTests {
    /// A page with its blocks of shell commands.
    struct Page: CustomTestStringConvertible, Sendable {
      let name: String
      let text: String

      var testDescription: String { name }

      /// The blocks marked as shell, with lines that end in a backslash joined to the next.
      var blocks: [String] { Self.blocks(of: text) }

      /// The blocks that can be run here: without those above which a remark says why they cannot.
      var runnableBlocks: [String] {
        Self.blocks(of: text.replacing(#/<!-- not run: [^>]+ -->\n```sh\n/#, with: "```\n"))
      }

      private static func blocks(of text: String) -> [String] {
        text.components(separatedBy: "```sh\n").dropFirst().map { part in
          part.components(separatedBy: "\n```")[0]
            .replacingOccurrences(of: "\\\n", with: " ")
        }
      }

      /// The commands of hearth, as words, without what follows in a comment.
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
    }

    static let pages: [Page] = {
      let docs = Place.package + "/assets/docs"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: docs)) ?? []
      let paths = names.filter { $0.hasSuffix(".md") }.sorted().map { docs + "/" + $0 }
      return ([Place.package + "/README.md"] + paths).compactMap { path in
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return Page(name: (path as NSString).lastPathComponent, text: text)
      }
    }()

    @Test("The pages are found, and have commands")
    func pagesAreFound() {
      #expect(Self.pages.count >= 8)
      #expect(Self.pages.flatMap(\.commands).count >= 30)
    }

    @Test("Each command exists and takes the options it is shown with")
    func commandsExist() throws {
      let place = try Place()
      var helps: [[String]: String] = [:]
      func help(_ command: [String]) throws -> String {
        if let known = helps[command] { return known }
        let found = try place.run(command + ["--help"], environment: place.environment).output
        helps[command] = found
        return found
      }
      for page in Self.pages {
        for words in page.commands {
          // Commands are one or two words; what follows are their arguments.
          var command: [String] = []
          for word in words.prefix(2) where !word.hasPrefix("-") {
            let longer = command + [word]
            guard words.starts(with: longer), word.allSatisfy({ $0.isLetter || $0 == "-" }),
              try help(longer).contains("USAGE: hearth \(longer.joined(separator: " "))")
            else { break }
            command = longer
          }
          #expect(!command.isEmpty || words[0].hasPrefix("-"), "\(page.name): hearth \(words)")
          let options = try help(command.isEmpty ? ["open"] : command)
          for option in words where option.hasPrefix("--") && option != "--help" {
            #expect(options.contains(option), "\(page.name): \(option) of hearth \(command)")
          }
        }
      }
    }

    @Test("What the page about serving shows can be typed, each server in place of the one before")
    func serving() throws {
      let page = try #require(Self.pages.first { $0.name == "serving.md" })
      let place = try Place()
      // The port is another one, and what runs until it is ended goes to the background.
      let script = """
        set -euo pipefail
        cd "$HOME"
        ln -sfn '\(Place.package)/assets' assets
        server= port=
        finish() { if [ -n "$server" ]; then kill "$server"; wait "$server" || true; server=; fi; }
        trap finish EXIT
        hearth() {
          if [ "$1" != serve ]; then '\(Place.program)' "$@"; return; fi
          finish
          local words=("${@/#9000/0}")
          [[ " $* " == *" --port "* ]] || words+=(--port 0)
          : > ready
          '\(Place.program)' "${words[@]}" > ready 2> errors & server=$!
          for _ in $(seq 400); do grep -q '"ready":true' ready && break; sleep 0.05; done
          port=$(sed -n 's/.*"port":\\([0-9]*\\).*/\\1/p' ready)
          [ -n "$port" ] || { cat errors >&2; return 1; }
        }
        curl() {
          # A stream ends with the time that there is.
          command curl -sS -m 3 "${@//127.0.0.1:9000/127.0.0.1:$port}" || [ $? = 28 ]
        }
        \(page.runnableBlocks.joined(separator: "\n"))
        """
      #expect(page.runnableBlocks.count >= 5 && page.runnableBlocks.count < page.blocks.count)
      let outcome = try place.run(
        ["-c", script],
        of: "/bin/bash",
        environment: place.environment
      )
      #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.errors)")
      #expect(outcome.output.contains("<feed xmlns=\"http://www.w3.org/2005/Atom\">"))
    }

    @Test(
      "What README and the page about scripting show can be typed from top to bottom",
      arguments: pages.filter { ["README.md", "scripting.md"].contains($0.name) }
    )
    func commandsRun(page: Page) throws {
      let place = try Place()
      // Blocks for a person at a screen, for several machines and for building are left to them.
      let left = ["apt-get", "serve --port", "--profile", "--script", "replay"]
      let blocks = page.blocks.filter { block in !left.contains { block.contains($0) } }
      #expect(!blocks.isEmpty)
      let script = """
        set -euo pipefail
        cd "$HOME"
        ln -sfn '\(Place.package)/assets' assets
        hearth() {
          if [ "$1" = watch ]; then
            # It runs until it is ended; the first lines are enough.
            timeout 3 '\(Place.program)' "$@" || [ $? = 124 ]
          else
            '\(Place.program)' "$@"
          fi
        }
        \(page.name == "scripting.md" ? "id=$(hearth post --title First --body Hello)" : "")
        \(blocks.joined(separator: "\n"))
        """
      let outcome = try place.run(
        ["-c", script],
        of: "/bin/bash",
        environment: place.environment
      )
      #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.errors)")
    }
  }
}
