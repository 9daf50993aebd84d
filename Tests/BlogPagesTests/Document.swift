import Foundation
import FoundationXML

/// A page or a feed as a strict parser sees it.
final class Document: NSObject, XMLParserDelegate {
  /// The elements that pages and feeds consist of.
  static let known: Set<String> = [
    "html", "head", "meta", "title", "link", "body", "header", "nav", "main", "article", "section",
    "footer", "h1", "h2", "small", "p", "div", "span", "bdi", "a", "time", "ol", "ul", "li", "br",
    "em", "strong", "code", "pre", "blockquote", "table", "tr", "th", "td",
    "svg", "path",
    "feed", "id", "updated", "published", "generator", "entry", "author", "name", "content",
    "summary",
  ]
  static let knownAttributes: Set<String> = [
    "lang", "charset", "name", "content", "rel", "href", "type", "title", "class", "aria-label",
    "aria-hidden", "aria-current", "dir", "datetime", "id", "viewBox", "d",
  ]

  private(set) var problem: String?
  private(set) var names: Set<String> = []
  private(set) var attributes: Set<String> = []
  private(set) var namespaces: Set<String> = []
  private(set) var links: [String] = []
  /// The texts between tags.
  private(set) var contents: [String] = []
  /// The address of the next page.
  private(set) var next: String?
  private var path: [String] = []
  private var found: [(path: String, text: String)] = []

  init(_ text: String) throws {
    super.init()
    // A document type declaration is not an XML declaration, but is allowed in its position.
    let parser = XMLParser(data: Data(text.utf8))
    parser.shouldProcessNamespaces = text.hasPrefix("<?xml")
    parser.delegate = self
    if !parser.parse() {
      problem = "\(parser.parserError.map { "\($0)" } ?? "?") at line \(parser.lineNumber)"
    }
  }

  /// The texts of all elements at a path of names.
  func texts(_ path: String) -> [String] {
    found.filter { $0.path == path }.map(\.text)
  }

  func parser(
    _ parser: XMLParser,
    didStartElement name: String,
    namespaceURI: String?,
    qualifiedName: String?,
    attributes values: [String: String]
  ) {
    path.append(name)
    names.insert(name)
    attributes.formUnion(values.keys)
    if let namespaceURI, !namespaceURI.isEmpty { namespaces.insert(namespaceURI) }
    if let link = values["href"] { links.append(link) }
    if values["class"] == "next" { next = values["href"] }
    found.append((path.joined(separator: "/"), ""))
    contents.append("")
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if !contents.isEmpty { contents[contents.count - 1] += text }
    let here = path.joined(separator: "/")
    if let position = found.lastIndex(where: { $0.path == here }) { found[position].text += text }
  }

  func parser(
    _ parser: XMLParser,
    didEndElement name: String,
    namespaceURI: String?,
    qualifiedName: String?
  ) {
    path.removeLast()
    contents.append("")
  }
}
