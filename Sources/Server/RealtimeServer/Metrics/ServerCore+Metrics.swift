internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport

extension ServerCore {
  /// Where administrators read the numbers.
  static let metricsPath = "/.info/metrics.json"

  /// What the server has done since its start.
  var metrics: JSONValue {
    .object([
      JSONMember(
        "uptimeSeconds",
        .integer((NIODeadline.now() - context.start).nanoseconds / 1_000_000_000)
      ),
      JSONMember("residentMebibytes", .integer(Int64(ResidentMemory.mebibytes()))),
      JSONMember("promisedBytes", .integer(Int64(context.memory.promisedInput))),
      JSONMember("waitingBytes", .integer(Int64(context.memory.outputBytes))),
      JSONMember("connections", .integer(Int64(context.connectionCount))),
      JSONMember(
        "databases",
        .object(
          databases.open.map { database in
            JSONMember(
              database.name,
              database.metrics.json(
                open: database.sessions.count + database.internalPeers.count,
                listens: database.hub.listenCount,
                revision: database.hub.revision,
                storeFailure: database.storeFailure
              )
            )
          }
        )
      ),
    ])
  }

  /// Tells the log now and then what the server has done.
  func scheduleMetrics() {
    guard let interval = options.metricsInterval else { return }
    metricsTask = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(interval)) { [weak self] in
      guard let self else { return }
      logger.notice("metrics", metadata: ["metrics": .stringConvertible(LoggedJSON(metrics))])
      scheduleMetrics()
    }
  }

  /// The numbers, for administrators only.
  func metricsReply(to request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    do throws(RESTError) {
      guard try isAdministrator(request) else { throw RESTError.permissionDenied }
      guard request.method == "GET" || request.method == "HEAD" else {
        throw RESTError(405, "the numbers can only be read")
      }
      let answer = HTTPAnswer.json(200, Array(metrics.text.utf8))
      return eventLoop.makeSucceededFuture(.answer(answer))
    } catch {
      return eventLoop.makeFailedFuture(error)
    }
  }

  /// Whether a request comes from an administrator's socket or with an administrator's credential.
  private func isAdministrator(_ request: HTTPRequest) throws(RESTError) -> Bool {
    let credential = try RESTCredential(request)
    guard let authentication = credential.authentication else {
      return credential.base == .administrator
    }
    do throws(CredentialError) {
      let verified = try identities.verifier(of: options.namespace)
        .verify(authentication, at: context.clock())
      return verified.identity == .administrator && authentication.override == nil
    } catch {
      throw RESTError(error)
    }
  }
}
