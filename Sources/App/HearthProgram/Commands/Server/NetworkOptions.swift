import ArgumentParser
import RealtimeServer

/// How a server is reached over the network.
struct NetworkOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Listen at this address of the machine; 0.0.0.0 and :: are all of them.",
      valueName: "address"
    )
  )
  var address: String?

  @Option(
    help: ArgumentHelp(
      "Encrypt the connections to the port: the certificate and those that lead to its authority.",
      valueName: "pem"
    )
  )
  var tlsCert: String?

  @Option(
    help: ArgumentHelp(
      "The key of the certificate, a file that nobody else can read.",
      valueName: "pem"
    )
  )
  var tlsKey: String?

  @Flag(
    help: """
      Let other machines connect without encryption: everyone in between can read and change all \
      that is sent, passwords included.
      """
  )
  var allowPlaintext = false

  /// Sets the options of a server.
  ///
  /// - Throws: ``CommandFailure`` for options that make no sense without each other.
  func apply(to options: inout DatabaseServer.Options) throws(CommandFailure) {
    if let address {
      guard options.port != nil else {
        throw CommandFailure(.usage, "--address needs --port, which is what it is an address of")
      }
      options.host = address
    }
    switch (tlsCert, tlsKey) {
    case (let certificate?, let key?):
      guard options.port != nil else {
        throw CommandFailure(.usage, "--tls-cert needs --port, whose connections it encrypts")
      }
      options.tls = DatabaseServer.TLS(certificateChain: certificate, privateKey: key)
    case (nil, nil): break
    case (_?, nil): throw CommandFailure(.usage, "--tls-cert needs the key as well (--tls-key)")
    case (nil, _?): throw CommandFailure(.usage, "--tls-key needs the certificate (--tls-cert)")
    }
    options.allowsPlaintext = allowPlaintext
    guard !options.isExposed || allowPlaintext else {
      throw CommandFailure(
        .usage,
        "other machines can reach \(options.host): --tls-cert and --tls-key encrypt what is sent, and "
          + "--allow-plaintext lets everyone in between read and change it"
      )
    }
  }

  /// What is said on stderr when others can read along.
  static let warning = """
    WITHOUT ENCRYPTION: other machines may connect, and everyone in between can read and change all \
    that is sent, passwords included. --tls-cert and --tls-key encrypt it.
    """
}
