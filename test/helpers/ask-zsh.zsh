# Types a line into an interactive zsh, asks it for completions, and prints what appears.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT='<ready>' LISTMAX=0; stty -echo cols 200; fpath=($2 \$fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' verbose no; bindkey '^I' list-choices; printf '<%s>' set"
zpty -r shell seen $'*<set>*<ready>*' || exit 1
zpty -w -n shell "$1"$'\t'
zpty -w shell $'\x15printf "<%s>" done'
zpty -r shell seen $'*<done>*' || exit 1
print -r -- $seen
zpty -d shell
