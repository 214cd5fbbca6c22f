extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How long it is, never what is in it.
  public var description: String { measure }
  /// How long it is, never what is in it.
  public var debugDescription: String { description }
  /// What a dump shows: how long it is.
  public var customMirror: Mirror { Mirror(self, children: ["body": description], displayStyle: .struct) }
}
