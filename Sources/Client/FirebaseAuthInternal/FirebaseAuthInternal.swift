// Lets a source file that says `import FirebaseAuthInternal` compile unchanged.
@_exported public import FirebaseAuth
