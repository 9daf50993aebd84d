/// A part of the screens of the sign-in that a pointer can mean.
enum SignInPart: Hashable {
  /// A choice of the first page.
  case choice(SignIn.Choice)
  /// A field of the form, by its number.
  case field(Int)
  /// A hint of what a key does.
  case key(KeyEvent)
}
