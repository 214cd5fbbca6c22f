/// Why a text cannot be written in one go.
enum JSONStop: Error {
  /// The type goes back to what is written already, or writes a key twice: `JSONEncoder`, which keeps all values until
  /// the end, can do that.
  case handOver
  /// The type writes two values where one is due.
  case misuse(String)
  /// Arrays and objects are nested too deeply.
  case tooDeep
}
