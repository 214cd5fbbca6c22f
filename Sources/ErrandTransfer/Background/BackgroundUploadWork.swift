import ErrandCore
import Foundation

/// Validates the responses to background uploads. A response stays in the folder until the end of its upload has been
/// reported, so that each launch of the app reaches the same result.
struct BackgroundUploadWork: BackgroundWork {
  typealias Record = BackgroundUploadState

  let client: APIClient
  let home: String

  func handle(_ wait: BackgroundWait<HTTPResponse>) -> BackgroundUpload { BackgroundUpload(wait, client) }

  func value(
    of record: Record, hasFile: Bool, in folder: Folder, noting note: (BackgroundPhase) throws -> Void
  ) throws -> HTTPResponse {
    guard hasFile, case .came(let stored) = record.phase,
      let response = stored.response(try folder.responseBody(of: record.id, limit: record.answerBytes))
    else { throw APIError.backgroundLost("the saved state is damaged", .upload) }
    try record.judge(response)
    if let total = ResponseProperties(of: stored.head, now: 0).total, total != Int64(response.body.count) {
      throw APIError.backgroundLength(Int64(response.body.count), insteadOf: total, .upload)
    }
    try stored.check(length: Int64(response.body.count), of: .upload)
    if let (state, name) = source(of: record, in: folder),
      let error = BackgroundUploadDecision.failure(of: state, name)
    {
      throw error.with(response)
    }
    return response
  }

  func isFoundAgain(_ error: APIError) -> Bool { BackgroundUploadDecision.isFromValidation(error) }

  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError {
    guard let (state, name) = source(of: record, in: folder) else { return error }
    return BackgroundUploadDecision.failure(error, by: state, name)
  }

  /// The state of the app's own body file, and the quoted name of the file. Nil if the upload sends a file that the
  /// library wrote. A file whose state cannot be read counts as unchanged.
  private func source(of record: Record, in folder: Folder) -> (BackgroundSource.State, String)? {
    guard let source = record.source else { return nil }
    let path = source.place.path(home: home)
    let name = "“\(PartNames.lastComponent(of: path))”"
    do {
      return (source.state(now: try folder.files.status(at: path)), name)
    } catch {
      return (.unchanged, name)
    }
  }
}
