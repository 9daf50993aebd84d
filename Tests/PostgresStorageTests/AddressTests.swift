import Testing

@testable import PostgresStorage

@Suite("Addresses of PostgreSQL")
struct AddressTests {
  @Test(
    "The name of an address has no password",
    arguments: [
      ("postgres://u:secret@h:1/x", "postgres://u@h:1/x"),
      ("postgresql://u:sec?ret@h:1,g:2/x?a=b", "postgresql://u@h:1,g:2/x?a=b"),
      ("postgres://u:sec/ret@h/x", "postgres://u@h/x"),
      ("postgres://u:sec@ret@h/x", "postgres://u@h/x"),
      ("postgres://h:1/x?password=secret&user=u&sslpassword=secret", "postgres://h:1/x?user=u"),
      ("postgres://u@h:1/x", "postgres://u@h:1/x"), ("postgres:///x", "postgres:///x"),
      ("host=h password=secret dbname=x", "host=h dbname=x"),
      ("host=h password = 'sec \\' ret' dbname=x", "host=h dbname=x"),
      ("host=h sslpassword=sec\\ ret password=se://cret", "host=h"),
    ]
  )
  func name(text: String, name: String) { #expect(PostgresAddress(text).description == name) }
}
