// Lets a source file that says `import FirebaseAuth` compile unchanged. The original brings
// Foundation along, and programs written for it rely on that.
@_exported public import Foundation
@_exported public import RealtimeAuth
