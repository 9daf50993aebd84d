// Lets a source file that says `import FirebaseDatabaseSwift` compile unchanged.
@_exported public import FirebaseDatabase
