/// The connections of all databases of a server.
struct PostgresPools {
  let address: PostgresAddress
  /// For commits, which are short.
  let commits: PostgresPool
  /// For reading whole databases and for folding, which may take long.
  let maintenance: PostgresPool

  init(to address: PostgresAddress, options: PostgresStoreOptions) {
    self.address = address
    let shares = options.shares
    commits = PostgresPool(
      to: address,
      bound: shares.commits,
      activity: options.activity
    )
    maintenance = PostgresPool(
      to: address,
      bound: shares.maintenance,
      activity: options.activity
    )
  }

  /// The name that errors use for a database.
  func origin(of database: String) -> String { "\(address.description), database \"\(database)\"" }
}
