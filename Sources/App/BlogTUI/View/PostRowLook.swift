/// What all the rows of a list have in common.
struct PostRowLook: Equatable {
  let theme: Theme
  let repertoire: CharacterRepertoire
  /// The number of columns.
  let width: Int
  /// The width of the widest age.
  let ageWidth: Int
  let density: Density
}
