public import Foundation

extension HTTPArchive {
  /// Reads the file of a ``FlightFile``, also while a process writes it: first the older part, whose name ends in `.1`,
  /// then the newer part. Either part may be missing.
  ///
  /// Lines that are not whole are ignored, and counted in ``unreadableLines``: the last line of a process that was
  /// killed, or a line that a full disk has cut off. Of more than ``mostEntries`` entries, the last are read; the others
  /// are counted in ``omittedEntries``.
  /// - Throws: ``HTTPArchiveError`` if no part can be read, or if a newer version of Errand wrote them.
  public init(flightFile url: URL) throws(HTTPArchiveError) {
    self.init()
    // The newer part is opened first: if it becomes the older part now, the same file is read twice instead of never.
    let newer = ArchiveFile.open(url)
    let failure = errno
    defer { if newer >= 0 { close(newer) } }
    let old = ArchiveFile.open(ArchiveFile.olderPart(url))
    defer { if old >= 0 { close(old) } }
    guard newer >= 0 || old >= 0 else { throw ArchiveFile.unreadable(url, failure) }
    let isSame = newer >= 0 && old >= 0 && ArchiveFile.identity(newer) == ArchiveFile.identity(old)
    var content = FlightLines.Content()
    for file in isSame ? [newer] : [old, newer] where file >= 0 {
      try FlightLines.read(try ArchiveFile.read(file, url), into: &content)
    }
    (entries, unreadableLines, omittedEntries) = (content.entries, content.unreadable, content.omitted)
  }
}
