import ErrandSupport
package import Foundation

/// The folders of tests that have ended.
private enum DiscardedFolders {
  private static let folders = Locked<[URL]>([])

  /// Lets the process remove the folders when it exits. The initial value is computed only once.
  private static let registration = atexit { DiscardedFolders.removeAll() }

  static func add(_ folder: URL) {
    _ = registration
    folders.withLock { $0.append(folder) }
  }

  private static func removeAll() {
    for folder in folders.withLock({ $0 }) { try? FileManager.default.removeItem(at: folder) }
  }
}

/// Removes the folder of a test, now and again when the process exits. Does nothing if the folder does not exist.
///
/// Use this function if a store, an outbox or a transfer engine works in the folder on its own thread. A test can end
/// before that thread has opened its files, and the thread then creates the folder again. A thread that writes at the
/// same time can also prevent the removal.
/// - Parameter folder: The folder, which belongs to one test.
package func discardFolder(_ folder: URL) {
  try? FileManager.default.removeItem(at: folder)
  DiscardedFolders.add(folder)
}
