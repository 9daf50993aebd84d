import Foundation
import HearthLab
import PostgresTestSupport
import TLSTestSupport
import TestSupport
import Testing

extension EndToEnd {
  /// The commands that README and the pages of `assets/docs` tell people to type.
  @Suite("Documentation")
  struct DocumentationTests {
    @Test("The pages are found and contain commands")
    func pagesAreFound() {
      #expect(DocumentationPage.all.count >= 12)
      #expect(DocumentationPage.all.flatMap(\.commands).count >= 50)
    }

    @Test("Each page starts by naming its audience")
    func pagesSayForWhom() {
      for page in DocumentationPage.all where page.name != "README.md" {
        let lines = page.text.split(separator: "\n", maxSplits: 2)
        #expect(lines[0].hasPrefix("# "), "\(page.name)")
        #expect(lines[1].hasPrefix("For "), "\(page.name): \(lines[1])")
      }
    }

    @Test("README links every page and is short, and every link points to a file")
    func links() throws {
      let readme = try #require(DocumentationPage.all.first { $0.name == "README.md" })
      #expect(readme.text.split { $0.isWhitespace }.count <= 1_010)
      for page in DocumentationPage.all {
        if page.name != "README.md" {
          #expect(readme.text.contains("(assets/docs/\(page.name))"), "\(page.name)")
        }
        let folder = Sandbox.package + (page.name == "README.md" ? "" : "/assets/docs")
        for link in page.text.matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/) {
          #expect(
            FileManager.default.fileExists(atPath: "\(folder)/\(link.1)"),
            "\(page.name): \(link.1)"
          )
        }
      }
    }

    @Test("Every documented command and option exists")
    func commandsExist() {
      var helps: [[String]: String] = [:]
      func help(_ command: [String]) -> String {
        if let known = helps[command] { return known }
        let found = programHelp(command)
        helps[command] = found
        return found
      }
      for page in DocumentationPage.all {
        for words in page.commands {
          // Commands are one or two words; the words that follow are their arguments.
          var command: [String] = []
          for word in words.prefix(2) where !word.hasPrefix("-") {
            let longer = command + [word]
            guard words.starts(with: longer), word.allSatisfy({ $0.isLetter || $0 == "-" }),
              help(longer).contains("USAGE: hearth \(longer.joined(separator: " "))")
            else { break }
            command = longer
          }
          #expect(!command.isEmpty || words[0].hasPrefix("-"), "\(page.name): hearth \(words)")
          let options = help(command.isEmpty ? ["open"] : command)
          for option in words where option.hasPrefix("--") && option != "--help" {
            #expect(options.contains(option), "\(page.name): \(option) of hearth \(command)")
          }
        }
      }
    }

    /// What a reader of a page has done before, apart from the pages that it refers to.
    private static let beforehand = [
      "accounts.md": """
      hearth serve --port 9000 --tls-cert chain.pem --tls-key key.pem --rules assets/rules/blog.json
      hearth profile add team --database "https://blog.example.org:9000?ns=hearth"
      """,
      "cluster.md": """
      hearth databases create blog --store "$STORE"
      "$program" serve --store "$STORE" --port 0 --socket second.sock \
        --advertise s-2.blog.example.org > second.out 2> second.err & second=$!
      for _ in $(seq 400); do grep -q '"ready":true' second.out && break; sleep 0.05; done
      """,
      "disaster.md": """
      "$program" databases create hearth --store "$STORE"
      "$program" serve --store "$STORE" --port 0 --socket server.sock > second.out 2> second.err & second=$!
      for _ in $(seq 400); do grep -q '"ready":true' second.out && break; sleep 0.05; done
      SCRATCH=$EMPTY_STORE
      echo "correct horse" | "$program" users add ann@example.org --password-stdin --store "$STORE"
      command curl -fsS -X PUT -d '{"notes":{"a":1}}' --unix-socket server.sock http://localhost/.json
      """,
      "postgresql.md": "hearth post --title First --body Hello",
    ]

    @Test(
      "The commands of each page run from top to bottom",
      arguments: DocumentationPage.all.filter { !$0.runnableBlocks.isEmpty }
    )
    func commandsRun(page: DocumentationPage) throws {
      let sandbox = try Sandbox()
      // Blocks that are not run say why, and most are run.
      #expect(page.runnableBlocks.count * 2 >= page.blocks.count)
      let authority = try CertificateAuthority()
      let issued = try authority.issue()
      for (name, text) in [
        "ca.pem": authority.certificate, "chain.pem": issued.certificate, "key.pem": issued.key,
      ] {
        chmod(try sandbox.write(text, to: name), 0o600)
      }
      var environment = sandbox.environment
      // The directories are those named on the pages.
      environment["XDG_DATA_HOME"] = nil
      environment["XDG_STATE_HOME"] = nil
      if page.text.contains("$STORE") || page.text.contains("postgres://"), page.name != "README.md"
      {
        guard PostgresServer.isInstalled else { return }
        let server = try PostgresServer.shared.get()
        environment["STORE"] = try server.makeDatabase()
        environment["EMPTY_STORE"] = try server.makeDatabase()
      }
      let script = """
        program='\(Sandbox.program)' assets='\(Sandbox.package)/assets'
        \(DocumentationPage.shell)
        \(Self.beforehand[page.name] ?? "")
        \(page.runnableBlocks.joined(separator: "\n"))
        echo "typed to the end"
        """
      let outcome = try sandbox.run(["-c", script], of: "/bin/bash", environment: environment)
      #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.errors)")
      #expect(outcome.output.hasSuffix("typed to the end\n"))
      if page.name == "serving.md" {
        #expect(outcome.output.contains("<feed xmlns=\"http://www.w3.org/2005/Atom\">"))
      }
    }
  }
}
