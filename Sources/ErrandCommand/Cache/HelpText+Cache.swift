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
