/// How a file is opened. A link that lies in its place is never followed.
package enum FileOpening: Sendable, Hashable {
  /// A new one for reading and writing, of the user alone (mode 0600); an error where the name is taken.
  case new
  /// One that is there, for reading and writing.
  case existing
  /// One that is there, for reading.
  case reading
}
