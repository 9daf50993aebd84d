// Lets a source file that says `import Firebase` compile unchanged, as far as this package goes.
@_exported public import FirebaseAuth
@_exported public import FirebaseCore
@_exported public import FirebaseDatabase
