# Made by `haul help --format bash`; do not edit.
_haul() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=get word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        get | verify | inspect | help | version) command=$word; break ;;
        esac
    done
    case $previous in
    -o | --output) COMPREPLY=($(compgen -f -- "$current")); return ;;
    -d | --dir) COMPREPLY=($(compgen -d -- "$current")); return ;;
    --if-exists) COMPREPLY=($(compgen -W 'auto replace rename skip fail' -- "$current")); return ;;
    --resume) COMPREPLY=($(compgen -W 'strict overlap length never' -- "$current")); return ;;
    --sync) COMPREPLY=($(compgen -W 'yes no' -- "$current")); return ;;
    -r | --range) COMPREPLY=(); return ;;
    -i | --input-file) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --mirror) COMPREPLY=(); return ;;
    --checksum) COMPREPLY=(); return ;;
    --checksums) COMPREPLY=($(compgen -f -- "$current")); return ;;
    -j | --jobs) COMPREPLY=(); return ;;
    -c | --connections) COMPREPLY=(); return ;;
    --min-split-size) COMPREPLY=(); return ;;
    --limit-rate) COMPREPLY=(); return ;;
    --max-rate) COMPREPLY=(); return ;;
    -H | --header) COMPREPLY=(); return ;;
    -u | --user) COMPREPLY=(); return ;;
    --bearer) COMPREPLY=(); return ;;
    --netrc-file) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --aws-sigv4) COMPREPLY=(); return ;;
    --cookies) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --save-cookies) COMPREPLY=($(compgen -f -- "$current")); return ;;
    -A | --user-agent) COMPREPLY=(); return ;;
    -e | --referer) COMPREPLY=(); return ;;
    -X | --method) COMPREPLY=(); return ;;
    --data) COMPREPLY=(); return ;;
    -x | --proxy) COMPREPLY=(); return ;;
    --proxy-user) COMPREPLY=(); return ;;
    --no-proxy) COMPREPLY=(); return ;;
    --cacert) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --cert) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --key) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --pinned-pubkey) COMPREPLY=(); return ;;
    --ssh-key) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --known-hosts) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --interface) COMPREPLY=(); return ;;
    --resolve) COMPREPLY=(); return ;;
    --retries) COMPREPLY=(); return ;;
    --retry-wait) COMPREPLY=(); return ;;
    --connect-timeout) COMPREPLY=(); return ;;
    --stall-timeout) COMPREPLY=(); return ;;
    --max-time) COMPREPLY=(); return ;;
    --max-filesize) COMPREPLY=(); return ;;
    --refresh-command) COMPREPLY=(); return ;;
    --on-finished) COMPREPLY=(); return ;;
    --on-failed) COMPREPLY=(); return ;;
    --dump-header) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --progress) COMPREPLY=($(compgen -W 'bar plain json none' -- "$current")); return ;;
    --config) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --format) COMPREPLY=($(compgen -W 'man markdown bash zsh fish' -- "$current")); return ;;
    esac
    if [[ $current == -* ]]; then
        case $command in
        get) COMPREPLY=($(compgen -W '--output --dir --if-exists --resume --sync --wait --remote-time --range --input-file --glob --mirror --checksum --checksums --jobs --connections --min-split-size --sequential --limit-rate --max-rate --header --user --bearer --netrc --netrc-file --aws-sigv4 --cookies --save-cookies --user-agent --referer --method --data --proxy --proxy-user --no-proxy --cacert --cert --key --pinned-pubkey --insecure --ssh-key --known-hosts --allow-downgrade --allow-file --http1.1 --ipv4 --ipv6 --interface --resolve --retries --retry-wait --connect-timeout --stall-timeout --max-time --max-filesize --refresh-command --on-finished --on-failed --fail-early --dump-header --dry-run --progress --json --quiet --verbose --config --no-config --help --version' -- "$current")) ;;
        verify) COMPREPLY=($(compgen -W '--dir --checksum --checksums --json --quiet --config --no-config --help --version' -- "$current")) ;;
        inspect) COMPREPLY=($(compgen -W '--json --help --version' -- "$current")) ;;
        help) COMPREPLY=($(compgen -W '--help --version --format' -- "$current")) ;;
        version) COMPREPLY=($(compgen -W '--json --help --version' -- "$current")) ;;
        esac
    elif [[ $command == verify || $command == inspect ]]; then
        COMPREPLY=($(compgen -f -- "$current"))
    elif [[ $COMP_CWORD -eq 1 || $command == help ]]; then
        COMPREPLY=($(compgen -W 'get verify inspect help version' -- "$current"))
    fi
}
complete -o filenames -F _haul haul
