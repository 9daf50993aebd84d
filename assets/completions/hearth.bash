#!/bin/bash

__hearth_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__hearth_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            --* | -h)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__hearth_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__hearth_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_hearth() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--mouse --no-mouse --ascii --plain --show --list-themes --print-config --debug-info --json --ephemeral --version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=(--config --theme --color --script --results --pace --record --record-limit --log --log-level --log-format --log-size --stars --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--config')
        __hearth_add_completions -f
        return
        ;;
    '--theme')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion -- --theme "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--color')
        __hearth_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    '--script')
        __hearth_add_completions -f
        return
        ;;
    '--results')
        __hearth_add_completions -W 'text'$'\n''tap'$'\n''junit'
        return
        ;;
    '--pace')
        return
        ;;
    '--record')
        __hearth_add_completions -f
        return
        ;;
    '--record-limit')
        return
        ;;
    '--log')
        __hearth_add_completions -f
        return
        ;;
    '--log-level')
        __hearth_add_completions -W 'trace'$'\n''debug'$'\n''info'$'\n''notice'$'\n''warning'$'\n''error'$'\n''critical'
        return
        ;;
    '--log-format')
        __hearth_add_completions -W 'text'$'\n''json'
        return
        ;;
    '--log-size')
        return
        ;;
    '--stars')
        __hearth_add_completions -W 'auto'$'\n''transaction'$'\n''increment'
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    open|list|search|show|post|comment|edit|star|unstar|delete|bookmark|unbookmark|follow|unfollow|mute|unmute|block|unblock|notices|read|unread|drafts|people|profile|sign-in|sign-up|sign-out|reset-password|accounts|name|get|set|watch|import|export|backup|restore|fsck|migrate|serve|stop|cluster|databases|users|rules|info|doctor|report|tutor|demo|swarm|replay|manual|completion|help)
        # Offer subcommand argument completions
        "_hearth_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'open list search show post comment edit star unstar delete bookmark unbookmark follow unfollow mute unmute block unblock notices read unread drafts people profile sign-in sign-up sign-out reset-password accounts name get set watch import export backup restore fsck migrate serve stop cluster databases users rules info doctor report tutor demo swarm replay manual completion help' -- "${cur}"))
        ;;
    esac
}

_hearth_open() {
    repeating_flags=()
    non_repeating_flags=(--mouse --no-mouse --ascii --plain --show --list-themes --print-config --debug-info --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--config --theme --color --script --results --pace --record --record-limit --log --log-level --log-format --log-size --stars --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--config')
        __hearth_add_completions -f
        return
        ;;
    '--theme')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion open -- --theme "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--color')
        __hearth_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    '--script')
        __hearth_add_completions -f
        return
        ;;
    '--results')
        __hearth_add_completions -W 'text'$'\n''tap'$'\n''junit'
        return
        ;;
    '--pace')
        return
        ;;
    '--record')
        __hearth_add_completions -f
        return
        ;;
    '--record-limit')
        return
        ;;
    '--log')
        __hearth_add_completions -f
        return
        ;;
    '--log-level')
        __hearth_add_completions -W 'trace'$'\n''debug'$'\n''info'$'\n''notice'$'\n''warning'$'\n''error'$'\n''critical'
        return
        ;;
    '--log-format')
        __hearth_add_completions -W 'text'$'\n''json'
        return
        ;;
    '--log-size')
        return
        ;;
    '--stars')
        __hearth_add_completions -W 'auto'$'\n''transaction'$'\n''increment'
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion open -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_list() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion list -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W 'recent'$'\n''top'$'\n''mine'$'\n''mytop'$'\n''following'$'\n''bookmarks'
        return
        ;;
    esac
}

_hearth_search() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion search -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_show() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion show -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion show -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_post() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--title --body --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--title')
        return
        ;;
    '--body')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion post -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_comment() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--answer --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--answer')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion comment -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion comment -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_edit() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--title --body --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--title')
        return
        ;;
    '--body')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion edit -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion edit -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_star() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--times --stars --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--times')
        return
        ;;
    '--stars')
        __hearth_add_completions -W 'auto'$'\n''transaction'$'\n''increment'
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion star -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion star -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_unstar() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--stars --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--stars')
        __hearth_add_completions -W 'auto'$'\n''transaction'$'\n''increment'
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unstar -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unstar -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_delete() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion delete -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion delete -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_bookmark() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion bookmark -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion bookmark -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_unbookmark() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unbookmark -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unbookmark -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_follow() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion follow -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_unfollow() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unfollow -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_mute() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion mute -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_unmute() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unmute -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_block() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion block -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_unblock() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unblock -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_notices() {
    repeating_flags=()
    non_repeating_flags=(--unread --clear --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion notices -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_read() {
    repeating_flags=()
    non_repeating_flags=(--all --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion read -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion read -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_unread() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unread -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion unread -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_drafts() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|show|delete)
        # Offer subcommand argument completions
        "_hearth_drafts_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list show delete' -- "${cur}"))
        ;;
    esac
}

_hearth_drafts_list() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion drafts list -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_drafts_show() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion drafts show -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_drafts_delete() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion drafts delete -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_people() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion people -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_profile() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    add|list|show|remove)
        # Offer subcommand argument completions
        "_hearth_profile_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'add list show remove' -- "${cur}"))
        ;;
    esac
}

_hearth_profile_add() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(--database --api-key --ca-file)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--database')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_profile_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 0
}

_hearth_profile_show() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 1

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion profile show -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_profile_remove() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 1

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion profile remove -- positional@0 "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_hearth_sign-in() {
    repeating_flags=()
    non_repeating_flags=(--password-stdin --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--email --name --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--email')
        return
        ;;
    '--name')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion sign-in -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_sign-up() {
    repeating_flags=()
    non_repeating_flags=(--password-stdin --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--email --name --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--email')
        return
        ;;
    '--name')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion sign-up -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_sign-out() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion sign-out -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_reset-password() {
    repeating_flags=()
    non_repeating_flags=(--password-stdin --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--email --code --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--email')
        return
        ;;
    '--code')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion reset-password -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_accounts() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion accounts -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_name() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion name -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_get() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion get -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_set() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion set -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_watch() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--count --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--count')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion watch -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_import() {
    repeating_flags=()
    non_repeating_flags=(--sample --replace --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion import -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion import -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_export() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion export -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion export -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_backup() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion backup -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion backup -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_restore() {
    repeating_flags=()
    non_repeating_flags=(--replace --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion restore -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion restore -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_fsck() {
    repeating_flags=()
    non_repeating_flags=(--repair --accept-loss --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion fsck -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion fsck -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_migrate() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion migrate -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_serve() {
    repeating_flags=()
    non_repeating_flags=(--emulator --redirect --allow-plaintext --no-sign-up --pages --json --ephemeral --version -h --help)
    repeating_options=(--allow-origin --allow-host --limit)
    non_repeating_options=(--port --rules --ns --idle-exit --log --store-connections --metrics --store --log-level --log-format --log-size --address --tls-cert --tls-key --tls-ca --advertise --token-seconds --admin-key-file --pages-url --pages-title --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--port')
        return
        ;;
    '--rules')
        __hearth_add_completions -f
        return
        ;;
    '--ns')
        return
        ;;
    '--allow-origin')
        return
        ;;
    '--allow-host')
        return
        ;;
    '--limit')
        return
        ;;
    '--idle-exit')
        return
        ;;
    '--log')
        __hearth_add_completions -f
        return
        ;;
    '--store-connections')
        return
        ;;
    '--metrics')
        return
        ;;
    '--store')
        return
        ;;
    '--log-level')
        __hearth_add_completions -W 'trace'$'\n''debug'$'\n''info'$'\n''notice'$'\n''warning'$'\n''error'$'\n''critical'
        return
        ;;
    '--log-format')
        __hearth_add_completions -W 'text'$'\n''json'
        return
        ;;
    '--log-size')
        return
        ;;
    '--address')
        return
        ;;
    '--tls-cert')
        __hearth_add_completions -f
        return
        ;;
    '--tls-key')
        __hearth_add_completions -f
        return
        ;;
    '--tls-ca')
        __hearth_add_completions -f
        return
        ;;
    '--advertise')
        return
        ;;
    '--token-seconds')
        return
        ;;
    '--admin-key-file')
        __hearth_add_completions -f
        return
        ;;
    '--pages-url')
        return
        ;;
    '--pages-title')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion serve -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_stop() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion stop -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_cluster() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion cluster -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_databases() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|create|delete|rename|move|rebalance|drain)
        # Offer subcommand argument completions
        "_hearth_databases_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list create delete rename move rebalance drain' -- "${cur}"))
        ;;
    esac
}

_hearth_databases_list() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion databases list -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_databases_create() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion databases create -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_databases_delete() {
    repeating_flags=()
    non_repeating_flags=(--yes --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion databases delete -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_databases_rename() {
    repeating_flags=()
    non_repeating_flags=(--yes --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion databases rename -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_databases_move() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion databases move -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_databases_rebalance() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion databases rebalance -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_databases_drain() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion databases drain -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_users() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|add|disable|enable|reset|delete|rotate-key)
        # Offer subcommand argument completions
        "_hearth_users_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list add disable enable reset delete rotate-key' -- "${cur}"))
        ;;
    esac
}

_hearth_users_list() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users list -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users list -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_users_add() {
    repeating_flags=()
    non_repeating_flags=(--password-stdin --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--name --ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--name')
        return
        ;;
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users add -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users add -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_users_disable() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users disable -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users disable -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_users_enable() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users enable -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users enable -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_users_reset() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users reset -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users reset -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_users_delete() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users delete -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users delete -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_users_rotate-key() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users rotate-key -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion users rotate-key -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_rules() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    check|explain|set)
        # Offer subcommand argument completions
        "_hearth_rules_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'check explain set' -- "${cur}"))
        ;;
    esac
}

_hearth_rules_check() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 1

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_rules_explain() {
    repeating_flags=()
    non_repeating_flags=(--update --json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--as --request --read --write --query --rules --data --ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--as')
        return
        ;;
    '--request')
        __hearth_add_completions -f
        return
        ;;
    '--read')
        return
        ;;
    '--write')
        return
        ;;
    '--query')
        return
        ;;
    '--rules')
        __hearth_add_completions -f
        return
        ;;
    '--data')
        __hearth_add_completions -f
        return
        ;;
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion rules explain -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion rules explain -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_rules_set() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--ns --store --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--ns')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion rules set -- --ns "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--store')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion rules set -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_info() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion info -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_doctor() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--port --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--port')
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion doctor -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_report() {
    repeating_flags=()
    non_repeating_flags=(--json --ephemeral --version -h --help)
    repeating_options=()
    non_repeating_options=(--output --user --data-dir --socket --database --profile --account --api-key --ca-file --timeout)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--output')
        __hearth_add_completions -f
        return
        ;;
    '--user')
        return
        ;;
    '--data-dir')
        __hearth_add_completions -d
        return
        ;;
    '--socket')
        __hearth_add_completions -f
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion report -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--account')
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--timeout')
        return
        ;;
    esac
}

_hearth_tutor() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 0
}

_hearth_demo() {
    repeating_flags=()
    non_repeating_flags=(--present --no-tmux --version -h --help)
    repeating_options=()
    non_repeating_options=(--panes --seconds --user --database --seed)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--panes')
        return
        ;;
    '--seconds')
        return
        ;;
    '--user')
        return
        ;;
    '--database')
        return
        ;;
    '--seed')
        return
        ;;
    esac
}

_hearth_swarm() {
    repeating_flags=()
    non_repeating_flags=(--soak --keep --json --plain --version -h --help)
    repeating_options=()
    non_repeating_options=(--users --seconds --seed --mix --rate --faults --stars --posts --users-per-process --terminals --servers --database --profile --admin-key-file --api-key --ca-file --rules --report --directory)
    __hearth_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--users')
        return
        ;;
    '--seconds')
        return
        ;;
    '--seed')
        return
        ;;
    '--mix')
        return
        ;;
    '--rate')
        return
        ;;
    '--faults')
        return
        ;;
    '--stars')
        return
        ;;
    '--posts')
        return
        ;;
    '--users-per-process')
        return
        ;;
    '--terminals')
        return
        ;;
    '--servers')
        return
        ;;
    '--database')
        return
        ;;
    '--profile')
        __hearth_add_completions -W "$(__hearth_custom_complete ---completion swarm -- --profile "${COMP_CWORD}" "$(__hearth_cursor_index_in_current_word)")"
        return
        ;;
    '--admin-key-file')
        __hearth_add_completions -f
        return
        ;;
    '--api-key')
        return
        ;;
    '--ca-file')
        __hearth_add_completions -f
        return
        ;;
    '--rules')
        __hearth_add_completions -f
        return
        ;;
    '--report')
        __hearth_add_completions -f
        return
        ;;
    '--directory')
        __hearth_add_completions -d
        return
        ;;
    esac
}

_hearth_replay() {
    repeating_flags=()
    non_repeating_flags=(--golden --script --version -h --help)
    repeating_options=()
    non_repeating_options=(--cast --idle)
    __hearth_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--cast')
        return
        ;;
    '--idle')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -f
        return
        ;;
    esac
}

_hearth_manual() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 1

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W 'hearth.1'$'\n''hearth-config.5'$'\n''hearth-script.5'$'\n''hearth-keys.7'
        return
        ;;
    esac
}

_hearth_completion() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options 1

    # Offer positional completions
    case "${positional_number}" in
    1)
        __hearth_add_completions -W 'bash'$'\n''zsh'$'\n''fish'
        return
        ;;
    esac
}

_hearth_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __hearth_offer_flags_options -1
}

complete -o filenames -F _hearth hearth
