export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof COMPLETION_SHELLS)[number];

/*
 * Each script passes the words up to the cursor to `gatehouse __complete`, and offers the lines that this command prints.
 * The script must not let the shell expand these lines: `compgen -W`, for instance, would run a command substitution in a
 * name.
 */

const BASH = `# bash completion for gatehouse: eval "$(gatehouse completion bash)"
_gatehouse() {
  local line current prefix candidate words
  line="\${COMP_LINE:0:COMP_POINT}"
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current="\${words[\${#words[@]}-1]}"
  # Bash completes only the part after the last colon.
  prefix=""
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] && prefix="\${current%"\${current##*:}"}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [[ $candidate == ":files" ]]; then
      compopt -o default 2>/dev/null
      return
    fi
    candidate="\${candidate%%$'\\t'*}"
    [[ -n $candidate && $candidate == "$current"* ]] && COMPREPLY+=("\${candidate#"$prefix"}")
  done < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _gatehouse gatehouse
`;

const ZSH = `#compdef gatehouse
# zsh completion for gatehouse: source <(gatehouse completion zsh)
_gatehouse() {
  local line
  local -a values shown
  for line in "\${(@f)$(gatehouse __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ":files" ]]; then
      _files
      return
    fi
    [[ -n $line ]] || continue
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line//$'\\t'/  -- }")
  done
  compadd -l -d shown -a values
}
# If this file is in a directory of $fpath, zsh loads it as the body of the function at the first call.
if [[ "\${funcstack[1]}" == "_gatehouse" ]]; then
  _gatehouse "$@"
else
  compdef _gatehouse gatehouse
fi
`;

const FISH = `# fish completion for gatehouse: gatehouse completion fish | source
function __gatehouse_candidates
    set -l words (commandline -opc) (commandline -ct)
    gatehouse __complete -- $words[2..-1] 2>/dev/null
end
function __gatehouse_completes_files
    string match -q -- ':files' (__gatehouse_candidates)
end
complete -c gatehouse -f -n 'not __gatehouse_completes_files' -a '(__gatehouse_candidates)'
complete -c gatehouse -F -n '__gatehouse_completes_files'
`;

export const COMPLETION_SCRIPTS: Readonly<Record<CompletionShell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
};
