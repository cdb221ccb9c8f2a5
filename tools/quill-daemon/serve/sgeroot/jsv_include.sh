# What a submission verifier written in a Bourne shell sources,
# jsv_script_interface(3). It defines jsv_on_start and jsv_on_verify and calls
# jsv_main. Names are those of parameters and variables; what is no name of a shell
# variable is not kept.

jsv_names=
jsv_env_names=

# jsv_main hears qsub or qmaster until it says QUIT.
jsv_main() {
   while IFS= read -r jsv_line; do
      jsv_rest=
      case $jsv_line in
      *' '*) jsv_rest=${jsv_line#* } ;;
      esac
      case ${jsv_line%% *} in
      START)
         jsv_clear_params
         jsv_clear_envs
         jsv_on_start
         echo STARTED
         ;;
      PARAM) _jsv_keep param jsv_names "$jsv_rest" ;;
      ENV) _jsv_keep env jsv_env_names "${jsv_rest#* }" ;;
      BEGIN) jsv_on_verify ;;
      SHOW)
         jsv_show_params
         jsv_show_envs
         ;;
      QUIT) return 0 ;;
      '') ;;
      *) printf 'ERROR unknown command "%s"\n' "${jsv_line%% *}" ;;
      esac
   done
}

_jsv_name() {
   case $1 in
   '' | [0-9]* | *[!A-Za-z0-9_]*) return 1 ;;
   esac
}

# _jsv_keep KIND LIST "NAME VALUE"
_jsv_keep() {
   _jsv_name "${3%% *}" || return 0
   jsv_value=
   case $3 in
   *' '*) jsv_value=${3#* } ;;
   esac
   eval "jsv_$1_${3%% *}=\$jsv_value"
   eval "case \" \$$2 \" in *' ${3%% *} '*) ;; *) $2=\"\$$2 ${3%% *}\" ;; esac"
}

# _jsv_drop KIND LIST NAME
_jsv_drop() {
   _jsv_name "$3" || return 0
   unset "jsv_$1_$3"
   jsv_left=
   eval "for jsv_n in \$$2; do [ \$jsv_n = $3 ] || jsv_left=\"\$jsv_left \$jsv_n\"; done; $2=\$jsv_left"
}

_jsv_is() {
   if _jsv_name "$2" && eval "[ \"\${jsv_$1_$2+set}\" = set ]"; then echo true; else echo false; fi
}

_jsv_get() {
   if _jsv_name "$2"; then eval "printf '%s\n' \"\${jsv_$1_$2-}\""; else echo; fi
}

_jsv_clear() {
   eval "for jsv_n in \$$2; do unset jsv_$1_\$jsv_n; done; $2="
}

jsv_send_env() { echo SEND ENV; }

jsv_is_param() { _jsv_is param "$1"; }
jsv_get_param() { _jsv_get param "$1"; }
jsv_clear_params() { _jsv_clear param jsv_names; }

jsv_set_param() {
   if [ -z "$2" ]; then
      jsv_del_param "$1"
      return
   fi
   _jsv_keep param jsv_names "$1 $2"
   printf 'PARAM %s %s\n' "$1" "$2"
}

jsv_del_param() {
   _jsv_drop param jsv_names "$1"
   printf 'PARAM %s\n' "$1"
}

# _jsv_elements ACTION PARAM NAME [VALUE]: each element of a list, "is" says whether
# NAME is there, "get" tells its value, "without" tells the list without it.
_jsv_elements() {
   jsv_old_ifs=$IFS jsv_result=
   [ "$1" = is ] && jsv_result=false
   case $- in
   *f*) jsv_globs=-f ;;
   *) jsv_globs=+f ;;
   esac
   set -f
   IFS=,
   for jsv_e in $(jsv_get_param "$2"); do
      case $1,${jsv_e%%=*} in
      is,"$3") jsv_result=true ;;
      get,"$3") case $jsv_e in *=*) jsv_result=${jsv_e#*=} ;; esac ;;
      is,* | get,* | without,"$3") ;;
      *) jsv_result=${jsv_result:+$jsv_result,}$jsv_e ;;
      esac
   done
   IFS=$jsv_old_ifs
   set $jsv_globs
   printf '%s\n' "$jsv_result"
}

jsv_sub_is_param() { _jsv_elements is "$1" "$2"; }
jsv_sub_get_param() { _jsv_elements get "$1" "$2"; }

jsv_sub_add_param() {
   jsv_list=$(_jsv_elements without "$1" "$2")
   jsv_set_param "$1" "${jsv_list:+$jsv_list,}$2${3:+=$3}"
}

jsv_sub_del_param() {
   [ "$(jsv_sub_is_param "$1" "$2")" = true ] || return 0
   jsv_set_param "$1" "$(_jsv_elements without "$1" "$2")"
}

jsv_is_env() { _jsv_is env "$1"; }
jsv_get_env() { _jsv_get env "$1"; }
jsv_clear_envs() { _jsv_clear env jsv_env_names; }

jsv_add_env() {
   _jsv_keep env jsv_env_names "$1 $2"
   printf 'ENV ADD %s %s\n' "$1" "$2"
}

jsv_mod_env() {
   _jsv_keep env jsv_env_names "$1 $2"
   printf 'ENV MOD %s %s\n' "$1" "$2"
}

jsv_del_env() {
   _jsv_drop env jsv_env_names "$1"
   printf 'ENV DEL %s\n' "$1"
}

jsv_show_params() {
   for jsv_n in $jsv_names; do
      jsv_log_info "got param: $jsv_n=$(jsv_get_param "$jsv_n")"
   done
}

jsv_show_envs() {
   for jsv_n in $jsv_env_names; do
      jsv_log_info "got env: $jsv_n=$(jsv_get_env "$jsv_n")"
   done
}

jsv_accept() { printf 'RESULT STATE ACCEPT %s\n' "$*"; }
jsv_correct() { printf 'RESULT STATE CORRECT %s\n' "$*"; }
jsv_reject() { printf 'RESULT STATE REJECT %s\n' "$*"; }
jsv_reject_wait() { printf 'RESULT STATE REJECT_WAIT %s\n' "$*"; }

jsv_log_info() { printf 'LOG INFO %s\n' "$*"; }
jsv_log_warning() { printf 'LOG WARNING %s\n' "$*"; }
jsv_log_error() { printf 'LOG ERROR %s\n' "$*"; }
