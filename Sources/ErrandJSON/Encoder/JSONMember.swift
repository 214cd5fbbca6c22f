/// Where the key of a member stands in the text, its quotes included.
struct JSONMember: BitwiseCopyable {
  let start: Int
  let keyEnd: Int

  var key: Range<Int> { start..<keyEnd }
  /// The key without its quotes.
  var name: Range<Int> { (start + 1)..<(keyEnd - 1) }
}
