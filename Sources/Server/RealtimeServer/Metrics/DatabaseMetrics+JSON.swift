internal import RealtimeCore
internal import RealtimeHub

extension DatabaseMetrics {
  /// The numbers as administrators read them.
  ///
  /// - Parameters:
  ///   - open: The connections that are open now.
  ///   - listens: The listens that are open now.
  ///   - revision: The number of the last stored commit.
  ///   - storeFailure: What is wrong with the store, if anything.
  /// - Returns: An object.
  func json(open: Int, listens: Int, revision: Int64, storeFailure: StoreError?) -> JSONValue {
    .object([
      JSONMember("connections", .integer(Int64(open))),
      JSONMember("connectionsSinceStart", .integer(Int64(connections))),
      JSONMember("listens", .integer(Int64(listens))),
      JSONMember("revision", .integer(revision)),
      JSONMember("storeFailure", storeFailure.map { .string("\($0.kind)") } ?? .null),
      JSONMember(
        "requests",
        .object(
          requests.sorted { $0.key < $1.key }.map { JSONMember($0.key, .integer(Int64($0.value))) }
        )
      ),
      JSONMember("undecodableMessages", .integer(Int64(undecodable))),
      JSONMember("sentMessages", .integer(Int64(sent))),
      JSONMember("sentBytes", .integer(Int64(sentBytes))),
      JSONMember("coalescedPushes", .integer(Int64(coalesced))),
      JSONMember("droppedConnections", .integer(Int64(dropped))),
      JSONMember("commits", .integer(Int64(commits))),
      JSONMember("failedBatches", .integer(Int64(failedBatches))),
      JSONMember("batchCommits", batchCommits.json),
      JSONMember("commitMicroseconds", commitTime.json),
      JSONMember("acknowledgeMicroseconds", acknowledgeTime.json),
    ])
  }
}

extension Histogram {
  /// The count, the mean, some quantiles and the maximum.
  var json: JSONValue {
    .object([
      JSONMember("count", .integer(Int64(count))),
      JSONMember("mean", .integer(Int64(count == 0 ? 0 : sum / count))),
      JSONMember("p50", .integer(Int64(quantile(0.5)))),
      JSONMember("p90", .integer(Int64(quantile(0.9)))),
      JSONMember("p99", .integer(Int64(quantile(0.99)))),
      JSONMember("maximum", .integer(Int64(maximum))),
    ])
  }
}
