/// Events on their way from other threads to the program's thread.
package typealias Inbox = Mailbox<Event>
