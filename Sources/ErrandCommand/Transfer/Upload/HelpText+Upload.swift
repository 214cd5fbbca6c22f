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
