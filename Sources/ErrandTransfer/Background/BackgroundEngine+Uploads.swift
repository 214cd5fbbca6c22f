import ErrandCore
import Foundation

extension BackgroundEngine where Work == BackgroundUploadWork {
  /// Prepares the body file first, then saves the record of the upload, and then hands the upload over to the system.
  func start(
    _ order: BackgroundUploadHandOver, copiesFile: Bool, tag: String?
  ) async throws(APIError) -> BackgroundUpload {
    let id = UUID().uuidString.lowercased()
    do {
      if !copiesFile, let source = try await queue.value({ try self.source(of: order) }) {
        return try await queue.value {
          try self.launch(order.record(id: id, tag: tag, source: source), order.order(id: id, from: nil))
        }
      }
      try await folder.write(order.body, for: id)
      return try await queue.value { try self.launchWritten(order, id, tag) }
    } catch {
      throw Self.error(error)
    }
  }

  private func source(of order: BackgroundUploadHandOver) throws -> BackgroundSource? {
    try folder.source(of: order.body, home: work.home)
  }

  private func launchWritten(_ order: BackgroundUploadHandOver, _ id: String, _ tag: String?) throws -> BackgroundUpload
  {
    let file: HTTPBody
    do {
      file = try .file(folder.bodyFile(of: id))
    } catch {
      folder.remove(id)
      throw error
    }
    return try launch(order.record(id: id, tag: tag, source: nil), order.order(id: id, from: file))
  }
}
