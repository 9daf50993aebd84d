/// Why a file of certificates or keys cannot be used.
struct PEMFileError: Error, CustomStringConvertible {
  let description: String
}
