/// A named value of an object in a rules document.
struct DocumentMember {
  let name: DocumentText
  let value: DocumentValue
}
