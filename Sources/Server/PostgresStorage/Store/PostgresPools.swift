/// The connections of all databases of a server.
struct PostgresPools {
  let address: PostgresAddress
  /// For commits, which are short.
  let commits: PostgresPool
  /// For reading whole databases and for folding, which may take long.
  let maintenance: PostgresPool

  init(to address: PostgresAddress, options: PostgresStoreOptions) {
    self.address = address
    let all = max(options.connections, PostgresStoreOptions.leastConnections) - 2
    // A long read or fold must not delay commits.
    let apart = max(1, all / 4)
    commits = PostgresPool(to: address, bound: all - apart, activity: options.activity)
    maintenance = PostgresPool(to: address, bound: apart, activity: options.activity)
  }

  /// The name that errors use for a database.
  func origin(of database: String) -> String { "\(address.description), database \"\(database)\"" }
}
