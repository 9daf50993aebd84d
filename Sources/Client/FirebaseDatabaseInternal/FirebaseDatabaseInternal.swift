// Lets a source file that says `import FirebaseDatabaseInternal` compile unchanged.
@_exported public import FirebaseDatabase
