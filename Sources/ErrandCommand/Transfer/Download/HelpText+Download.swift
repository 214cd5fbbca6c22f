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
