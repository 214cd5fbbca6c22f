extension Digest {
  /// Thirty-two bytes of the system's random numbers: the salt of a new store.
  public static func random() -> Digest {
    var system = SystemRandomNumberGenerator()
    return Digest(words: (system.next(), system.next(), system.next(), system.next()))
  }
}
