/// The help texts that `errand help` and the option `--help` print.
enum HelpText {
  static let version = "0.1.0"

  static let usage = """
    errand: HTTP requests as typed values, on the command line

    usage: errand demo [NUMBER …]       play the everyday scenes with embedded servers
           errand send [METHOD] URL …   send one request
           errand download URL …        download files, and resume interrupted downloads
           errand upload FILE … URL     send files, or a form with files
           errand cache VERB DIR …      inspect a folder of cached responses: list, show, stats, clear
           errand outbox VERB DIR …     inspect a folder of waiting changes: list, show, resend, discard
           errand record FILE …         show recorded calls: list, why, diff, curl, har, page
           errand mcp [FILE]            serve recorded calls to agents (Model Context Protocol)
           errand generate DOCUMENT …   write Swift requests and models from an OpenAPI document
           errand help [COMMAND]        print the help of a command, such as send or generate
           errand --version

    try:   errand demo
           errand send https://example.com -v
           errand download https://example.com/big.iso -c
           errand send https://example.com --cache /tmp/kept && errand cache list /tmp/kept

    """

  static let demo = """
    usage: errand demo [NUMBER …]

    Starts two servers on this machine, an API and a CDN, and plays the everyday scenes with them.
    A scene is a short program. It shows what was declared, sent, received and checked. Numbers choose
    scenes; without numbers, all scenes are played. Secrets are masked; nothing leaves the machine.

    \(scenes)

    Exit status: 0 if every scene passed its checks, 1 if a scene did not, 64 for wrong arguments.
    NO_COLOR=1 disables colours.

    """

  private static var scenes: String {
    Demo.scenes.enumerated().map { index, scene in
      let number = String(index + 1)
      return "  \(String(repeating: " ", count: max(0, 2 - number.count)))\(number)  \(scene.title)"
    }.joined(separator: "\n")
  }
}

extension HelpText {
  static let cache = #"""
    usage: errand cache list  DIR
           errand cache show  DIR [METHOD] URL [name=value …] [option …]
           errand cache stats DIR
           errand cache clear DIR [--host NAME | --tag WORD | --older-than AGE]

    Inspects a folder of cached responses, written by “errand send --cache DIR” or by a program that
    uses Errand's disk cache. It creates no folder, and sends no request.

      list                one line for each response, the most recently used first: its age, its
                          freshness by its own policy, the size of its body, status, method, URL with
                          masked query values, and tag
      show                headers and body of the response that is stored for a request. A plain URL
                          matches any method; with arguments or a METHOD, only that request matches.
                          Give the same arguments as for sending it: METHOD, URL, name=value, --json,
                          --form, --query, -H, --user and --bearer. Without a credential, it shows
                          responses that were stored without one. Further facts go to standard error
      stats               the number of responses and bytes, and their hosts
      clear               remove all responses, or some, and print how many were removed
        --host NAME         only responses from this host
        --tag WORD          only responses stored by calls with this tag
        --older-than AGE    only responses received longer ago than this: 30s 10m 2h 7d

    states
      fresh for 2m 48s    served without asking the server
      stale for 12s       the server is asked whether it is still valid
      always checked      stored, but the server is asked each time: no-cache
      age unknown         received in the future: the clock was set back

    examples
      errand cache list ~/.cache/shop
      errand cache show ~/.cache/shop https://api.example.com/users/7 | less
      errand cache clear ~/.cache/shop --older-than 7d

    exit status
      0  success                                        72  the folder is missing or contains no store
      1  any other failure                              75  another process uses the store
     64  wrong arguments                                77  access to the folder is denied
     66  show: nothing is stored for this request

    """#
}

extension HelpText {
  static let upload = #"""
    usage: errand upload FILE … URL [option …]

    Sends files of any size, which are read while they are sent, and prints the response body. Progress
    goes to standard error: a bar on a terminal, lines in a pipe.

      FILE                the file. A single file is the whole body, and is sent by PUT
      URL                 the default scheme is https://, for this machine http://. If it ends in /, the
                          file's name is appended, except for a form

    as a form (POST, multipart/form-data)
      --multipart         send the files as parts of a form, as a browser does
      --field name=value  a field that precedes the files; name:=json is a part in JSON
      --name NAME         the field name of the files; by default “file”

    how it is sent
      -X, --method WORD   another method
      --type TYPE         the media type; by default it is derived from the extension
      --gzip              compress the body (Content-Encoding: gzip); few servers accept it
      --expect            ask the server before the body is sent (Expect: 100-continue)
      --timeout SECONDS   the limit for the whole call; by default none. Connecting is always limited to
                          10 s, and idle time to 60 s
      -H 'Name: value'    a header field; may be repeated; 'Name:' omits a field
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          For both, @FILE reads the first line of a file, because other users of this
                          machine can see the arguments of a command

    and more
      -q                  print only errors
      -v                  print what is sent and received, with masked secrets
      --no-proxy          use no proxy, and ignore http_proxy, https_proxy, all_proxy and no_proxy
      --                  everything after it is an argument, not an option

    examples
      errand upload film.mp4 https://example.com/films/ --bearer "$TOKEN"
      errand upload cat.jpg https://example.com/photos --field title='A cat' --name image

    exit status
      0  the server accepted the upload                 56  the connection broke or delivered bad data
      1  any other failure                              60  TLS failed, or the server is not trusted
      6  the host name could not be resolved            64  wrong arguments, or an invalid request
      7  the server is unreachable                      66  a file is missing or cannot be read
     22  the status is not 2xx; the body is printed    130  interrupted
     28  time-out
     33  the file changed while it was sent

    """#
}

extension HelpText {
  static let download = #"""
    usage: errand download URL … [-o FILE | -d DIR] [option …]
           errand download -c [-o FILE | -d DIR] [option …]

    Downloads files. Received bytes are collected in FILE.part, and FILE is replaced in one step when
    all bytes are received and verified. The next run resumes an interrupted download if the server
    still has the same version; two versions are never mixed. Progress goes to standard error: a bar for
    each file on a terminal, lines in a pipe.

      URL                 the default scheme is https://, for this machine http://

    where the file goes
      -o FILE             this file, for one URL
      -d DIR              this folder, created if it is missing; by default the current folder
      -J, --server-name   use the server's file name, made safe; by default the URL's
      -n, --no-replace    keep an existing file, and fail; this is the default with -J
      --replace           replace an existing file, also with -J

    resuming
      -c, --continue      continue an earlier run: an existing file counts as complete (with a checksum,
                          only if it matches; with -J it is fetched again, because its name is not known
                          before). Without a URL: all interrupted downloads in DIR, each with its
                          original name, -n and permissions
      --fresh             discard the bytes that an earlier run received
      --refresh WHAT      if a URL has expired (401, 403, 404, 410), get another one, once: the first
                          line that the shell command WHAT prints, which gets the old URL in ERRAND_URL,
                          or, if WHAT is a URL, the first line of its response
      --resource NAME     a name for the file, if its URL changes each time, such as a signed one

    verification
      --sha256 SUM        hexadecimal or base64; a file with another checksum is deleted
      --sha512 SUM        as --sha256. The server's Repr-Digest and Content-Digest are always verified

    speed and time
      --parallel N        request up to N ranges of a file in parallel, if that is safe
      --files N           download up to N files in parallel; by default 4
      --limit-rate RATE   at most this many bytes a second, for all files together: 500k, 2M, 1.5G
      --timeout SECONDS   the limit for each file; by default none. Connecting is always limited to
                          10 s, and idle time to 60 s

    and more
      -H 'Name: value'    a header field; may be repeated; 'Name:' omits a field
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          For both, @FILE reads the first line of a file, because other users of this
                          machine can see the arguments of a command
      --wait              wait while another download uses the file; by default this download fails
      -q                  print only errors
      -v                  print what is sent and received, with masked secrets
      --no-proxy          use no proxy, and ignore http_proxy, https_proxy, all_proxy and no_proxy
      --                  everything after it is an argument, not an option

    examples
      errand download https://example.com/big.iso --sha256 9f86d081884c7d65…
      errand download https://example.com/a.zip https://example.com/b.zip -d ~/Downloads
      errand download -c -d ~/Downloads
      errand download "$(sign film)" --resource film -o film.mp4 --refresh 'sign film'

    exit status; for several files, that of the first failure
      0  all files are complete                         56  the connection broke or delivered bad data
      1  any other failure                              60  TLS failed, or the server is not trusted
      6  the host name could not be resolved            64  wrong arguments, or an invalid request
      7  the server is unreachable                      65  the checksum is wrong; the file was deleted
     22  the status is not 2xx                          66  -c without a URL, and nothing to resume
     23  the disk is full, or the file cannot be        73  -n, and the file exists
         written                                        75  another download uses the file
     28  time-out                                      130  interrupted; the received bytes are kept
     33  the file changed on the server, or the
         response has another range than requested

    After 6, 7, 23, 28, 56 and 130 the same command with -c (instead of --fresh, if it was given)
    resumes the download.

    """#
}
