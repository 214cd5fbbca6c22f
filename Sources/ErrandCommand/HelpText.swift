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

extension HelpText {
  static let cache = #"""
    usage: errand cache list  DIR
           errand cache show  DIR [METHOD] URL [name=value …] [option …]
           errand cache stats DIR
           errand cache clear DIR [--host NAME | --tag WORD | --older-than AGE]

    Looks into a folder that answers are kept in, by “errand send --cache DIR” or by a program that
    uses Errand's cache on a disk. Nothing is made, and no server is asked.

      list                a line for each answer, the one used last first: how long ago it came, how
                          fresh it is by its own policy, bytes of the body, status, method, URL with
                          the values of its query masked, and tag
      show                head and body of what is stored for a request: for a plain URL whatever the
                          method, with arguments or a METHOD for this request alone. Write the words
                          that it was sent with: METHOD, URL, name=value, --json, --form, --query, -H,
                          --user and --bearer. Without a credential it shows what is nobody's.
                          What is known beside it goes to standard error
      stats               how many answers and bytes there are, and from which hosts
      clear               remove all answers, or some, and say how many went
        --host NAME         those from a host
        --tag WORD          those that calls with this tag stored
        --older-than AGE    those that came longer ago: 30s 10m 2h 7d

    states
      fresh for 2m 48s    served without asking the server
      stale for 12s       the server is asked whether it still holds
      asks always         kept, and the server is asked each time: no-cache
      age unknown         it came later than now: the clock was set back

    examples
      errand cache list ~/.cache/shop
      errand cache show ~/.cache/shop https://api.example.com/users/7 | less
      errand cache clear ~/.cache/shop --older-than 7d

    exit status
      0  done                                           72  the folder is missing or has no store in it
      1  anything that is not in this list              75  another process holds the store
     64  wrong words                                    77  the folder may not be read or written
     66  show: nothing is stored for this request

    """#
}

extension HelpText {
  static let upload = #"""
    usage: errand upload FILE … URL [option …]

    Sends files, which are read while they are sent, whatever their size, and shows the body of the
    answer. On a terminal there is a bar, in a pipe there are lines; both go to standard error.

      FILE                the file. Alone it is the whole body, by PUT
      URL                 without a scheme it gets https://, one of this machine http://; one that ends
                          in / gets the file's name, but for a form

    as a form (POST, multipart/form-data)
      --multipart         the files are parts of a form, as a browser sends them
      --field name=value  a field beside the files, before them; name:=json is a part in JSON
      --name NAME         what the parts with files are called; “file” if nothing is said

    how it is sent
      -X, --method WORD   another method
      --type TYPE         the media type; else the extension says it
      --gzip              compressed on the way (Content-Encoding: gzip); few servers take it
      --expect            ask the server before the body is sent (Expect: 100-continue)
      --timeout SECONDS   for the whole call; no limit if nothing is said. 10 s to connect and 60 s of
                          silence end it in any case
      -H 'Name: value'    a field, sent as often as it is said; 'Name:' leaves a field out
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          @FILE in place of either reads the first line of a file; others on this
                          machine can see the arguments of a command

    and more
      -q                  say nothing but what goes wrong
      -v                  show what is sent and received, secrets masked
      --no-proxy          no proxy, whatever http_proxy, https_proxy, all_proxy and no_proxy say
      --                  behind it nothing is an option

    examples
      errand upload film.mp4 https://example.com/films/ --bearer "$TOKEN"
      errand upload cat.jpg https://example.com/photos --field title='A cat' --name image

    exit status
      0  the server took it                             56  the connection broke, or talked nonsense
      1  anything that is not in this list              60  TLS failed, or nobody vouches for the server
      6  the host's name could not be resolved          64  wrong words, or a request not fit to send
      7  nobody listens there                           66  the file is not there, or may not be read
     22  the status is no success; the body is shown   130  interrupted
     28  it took too long
     33  the file changed while it was sent

    """#
}

extension HelpText {
  static let download = #"""
    usage: errand download URL … [-o FILE | -d DIR] [option …]
           errand download -c [-o FILE | -d DIR] [option …]

    Downloads files. What comes is gathered in FILE.part, and FILE is replaced in one step once all of
    it is there and checked. A run that was interrupted, by whatever it was, is gone on with by the next
    one if the server still has the same version; two versions are never mixed. On a terminal there is a
    bar for each file, in a pipe there are lines; both go to standard error.

      URL                 without a scheme it gets https://, one of this machine http://

    where the file goes
      -o FILE             this file, for one URL
      -d DIR              this folder, made where it is missing; the present one if nothing is said
      -J, --server-name   name it as the server says, made safe; else the URL says the name
      -n, --no-replace    leave a file that is there alone, and fail; so it is with -J
      --replace           replace a file that is there, with -J, too

    going on
      -c, --continue      do what is left of an earlier run: a file that is there is taken as done (with
                          a checksum, if it has that; with -J it is fetched anew, for its name is not
                          known before). Without a URL: all that was interrupted in DIR, each with the
                          name, -n and permissions as it was begun
      --fresh             throw away what an earlier run has left
      --refresh WHAT      where a URL has expired (401, 403, 404, 410), ask once for another: the first
                          line that the shell command WHAT prints, which finds the old one in
                          ERRAND_URL, or, if WHAT is a URL, the first line there
      --resource NAME     what the file is, where its URL is another one each time, such as a signed one

    what is checked
      --sha256 SUM        hexadecimal or base64; a file that has another sum is deleted
      --sha512 SUM        the same. Repr-Digest and Content-Digest of the server are checked in any case

    how fast
      --parallel N        up to N ranges of a file at once may be asked for, where that is safe
      --files N           up to N files at once; 4 if nothing is said
      --limit-rate RATE   at most so many bytes a second, all files together: 500k, 2M, 1.5G
      --timeout SECONDS   for each file as a whole; no limit if nothing is said. 10 s to connect and
                          60 s of silence end it in any case

    and more
      -H 'Name: value'    a field, sent as often as it is said; 'Name:' leaves a field out
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          @FILE in place of either reads the first line of a file; others on this
                          machine can see the arguments of a command
      --wait              wait for another download of the same file; else the second fails at once
      -q                  say nothing but what goes wrong
      -v                  show what is sent and received, secrets masked
      --no-proxy          no proxy, whatever http_proxy, https_proxy, all_proxy and no_proxy say
      --                  behind it nothing is an option

    examples
      errand download https://example.com/big.iso --sha256 9f86d081884c7d65…
      errand download https://example.com/a.zip https://example.com/b.zip -d ~/Downloads
      errand download -c -d ~/Downloads
      errand download "$(sign film)" --resource film -o film.mp4 --refresh 'sign film'

    exit status; of several files the first that failed counts
      0  all files are there                            56  the connection broke, or talked nonsense
      1  anything that is not in this list              60  TLS failed, or nobody vouches for the server
      6  the host's name could not be resolved          64  wrong words, or a request not fit to send
      7  nobody listens there                           65  the checksum is wrong; the file was deleted
     22  the status is no success                       66  -c without a URL, and nothing is left to do
     23  the disk is full, or the file cannot be        73  -n, and the file is there
         written                                        75  another download is writing the file
     28  it took too long                              130  interrupted; what came is kept
     33  the file changed at the server, or it sent
         another part than was asked for

    After 6, 7, 23, 28, 56 and 130 the same command with -c (in place of --fresh, where that was said)
    goes on where it stopped.

    """#
}
