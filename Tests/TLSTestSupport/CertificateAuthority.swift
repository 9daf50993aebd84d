/// A certificate authority for tests, which signs server certificates with its own key.
package struct CertificateAuthority: Sendable {
  /// A certificate and its private key.
  package struct Issued: Sendable {
    /// The certificate in PEM.
    package let certificate: String
    /// Its private key in PEM.
    package let key: String
  }

  /// The certificate of the authority in PEM.
  package let certificate: String
  private let name: String
  private let key: SigningKey

  private static let signature = DER.sequence(DER.identifier(1, 2, 840, 10_045, 4, 3, 2))

  /// Creates an authority that no client trusts yet.
  ///
  /// - Throws: The error of signing.
  package init(_ name: String = "An authority for tests") throws {
    self.name = name
    key = try SigningKey()
    certificate = try Self.certificate(
      of: key,
      named: name,
      signedBy: key,
      named: name,
      years: 2_020...2_090,
      extensions: [
        Self.extension([29, 19], DER.sequence(DER.boolean(true))),
        Self.extension([29, 15], DER.bits([0x04], unused: 2)),
      ]
    )
  }

  /// Issues a certificate for a server.
  ///
  /// - Parameters:
  ///   - names: The names of the server, which may be wildcards.
  ///   - addresses: The IPv4 addresses of the server.
  ///   - years: The years at whose beginning the certificate becomes valid and expires.
  ///   - isSelfSigned: Whether the server signs the certificate itself.
  /// - Returns: The certificate and its key.
  /// - Throws: The error of signing.
  package func issue(
    names: [String] = ["localhost"],
    addresses: [[UInt8]] = [[127, 0, 0, 1]],
    years: ClosedRange<Int> = 2_021...2_089,
    isSelfSigned: Bool = false
  ) throws -> Issued {
    let own = try SigningKey()
    let subject = names.first ?? "a server"
    let alternatives =
      names.flatMap { DER.value(0x82, Array($0.utf8)) }
      + addresses.flatMap { DER.value(0x87, $0) }
    let certificate = try Self.certificate(
      of: own,
      named: subject,
      signedBy: isSelfSigned ? own : key,
      named: isSelfSigned ? subject : name,
      years: years,
      extensions: [Self.extension([29, 17], DER.sequence(alternatives))]
    )
    return Issued(certificate: certificate, key: own.text)
  }

  private static func certificate(
    of subjectKey: SigningKey,
    named subject: String,
    signedBy issuerKey: SigningKey,
    named issuer: String,
    years: ClosedRange<Int>,
    extensions: [[UInt8]]
  ) throws -> String {
    let serial = [0x01] + (0..<8).map { _ in UInt8.random(in: 0...0xFF) }
    let body = DER.sequence(
      DER.tagged(0, DER.integer([2])),
      DER.integer(serial),
      signature,
      distinguishedName(issuer),
      DER.sequence(DER.year(years.lowerBound), DER.year(years.upperBound)),
      distinguishedName(subject),
      subjectKey.publicPart,
      DER.tagged(3, DER.sequence(extensions.flatMap(\.self)))
    )
    let proof = try issuerKey.signature(of: body)
    return DER.text(of: DER.sequence(body, signature, DER.bits(proof)), named: "CERTIFICATE")
  }

  private static func distinguishedName(_ text: String) -> [UInt8] {
    DER.sequence(DER.set(DER.sequence(DER.identifier(2, 5, 4, 3), DER.text(text))))
  }

  /// A critical extension, by the last two numbers of its identifier.
  private static func `extension`(_ numbers: [Int], _ content: [UInt8]) -> [UInt8] {
    DER.sequence(
      DER.identifier(2, 5, numbers[0], numbers[1]),
      DER.boolean(true),
      DER.octets(content)
    )
  }
}
