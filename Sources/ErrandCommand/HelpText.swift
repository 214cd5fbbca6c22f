/// The texts that teach.
enum HelpText {
  static let version = "0.1.0"

  static let usage = """
    errand: HTTP requests as typed values, seen from the shell

    usage: errand demo [NUMBER …]       play the everyday scenes against an embedded server
           errand send [METHOD] URL …   send one request
           errand download URL …        download files, and go on where a download stopped
           errand upload FILE … URL     send files, or a form with files
           errand cache VERB DIR …      look into a folder of kept answers: list, show, stats, clear
           errand help [COMMAND]        teach demo, send, download, upload or cache
           errand --version

    try:   errand demo
           errand send https://example.com -v
           errand download https://example.com/big.iso -c
           errand send https://example.com --cache /tmp/kept && errand cache list /tmp/kept

    """

  static let demo = """
    usage: errand demo [NUMBER …]

    Starts two servers on this machine, an API and a CDN, and plays the everyday scenes against them.
    Each shows what was declared, what went over the wire, what came back, and what was checked of it.
    Numbers choose scenes; without one, all are played. Secrets are masked; nothing leaves the machine.

    \(scenes)

    Exit status: 0 if every scene went as declared, 1 if one did not, 64 for wrong words.
    NO_COLOR=1 switches colours off.

    """

  private static var scenes: String {
    Demo.scenes.enumerated().map { index, scene in
      let number = String(index + 1)
      return "  \(String(repeating: " ", count: max(0, 2 - number.count)))\(number)  \(scene.title)"
    }.joined(separator: "\n")
  }
}
