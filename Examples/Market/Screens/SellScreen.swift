import Errand
import Foundation

/// The screen on which sellers add pictures, with a progress bar.
@MainActor
final class SellScreen: APIManagerDelegate {
  let bell = Bell()
  let pictures: APIManager<AddPicture>
  private let console: Console

  init(_ client: APIClient, _ console: Console) {
    self.console = console
    pictures = APIManager(client, options: CallOptions(accessories: [UploadBar(console)]))
    pictures.delegate = self
  }

  func add(_ file: URL, caption: String) {
    pictures.start(AddPicture(offerID: 7, caption: caption, file: file))
  }

  func managerFinished(_ manager: any APIManaging) {
    console.say("the offer has \(pictures.lastOutcome?.value?.pictures ?? 0) pictures now")
    bell.ring()
  }

  func managerFailed(_ manager: any APIManaging) {
    let error = pictures.lastError
    let words = error?.body(as: AddPicture.ErrorBody.self)?.message ?? error?.message ?? ""
    console.say("not added: \(words)")
    bell.ring()
  }
}
