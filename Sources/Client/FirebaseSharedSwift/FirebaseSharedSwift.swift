// Lets a source file that says `import FirebaseSharedSwift` compile unchanged.
@_exported public import FirebaseDatabase

/// The encoder of databases, by its name in the original.
public typealias FirebaseDataEncoder = Database.Encoder

/// The decoder of databases, by its name in the original.
public typealias FirebaseDataDecoder = Database.Decoder
