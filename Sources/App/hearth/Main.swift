import HearthProgram

@main
enum Main {
  static func main() async { await Hearth.main() }
}
