# What a submission verifier written in Perl uses, jsv_script_interface(3). It sets
# jsv_on_start and jsv_on_verify and calls jsv_main:
#
#    use lib "$ENV{SGE_ROOT}/util/resources/jsv";
#    use JSV qw(:ALL);
#
# A parameter that is a list (l_hard=h_rt=60,mem_free=1G) is a reference to a hash in
# the hash of parameters; an element without a value has the value undef.
package JSV;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(
   jsv_on_start jsv_on_verify jsv_main
   jsv_get_param_hash jsv_set_param jsv_del_param jsv_sub_add_param jsv_sub_del_param
   jsv_get_env_hash jsv_is_env jsv_get_env jsv_add_env jsv_mod_env jsv_del_env
   jsv_accept jsv_correct jsv_reject jsv_reject_wait
);
our @EXPORT_OK = qw(
   jsv_is_param jsv_get_param jsv_sub_is_param jsv_sub_get_param
   jsv_show_params jsv_show_envs jsv_send_command jsv_send_error jsv_send_env
   jsv_log_info jsv_log_warning jsv_log_error
);
our %EXPORT_TAGS = (ALL => [@EXPORT, @EXPORT_OK], DEFAULT => [@EXPORT]);

my %is_list = map { $_ => 1 } qw(ac e hold_jid hold_jid_ad i l_hard l_soft M m masterq o pe q q_hard q_soft S u);
my (%params, %order, %envs);
my ($on_start, $on_verify) = (sub { }, sub { jsv_accept() });

sub jsv_send_command { local $| = 1; print join(' ', @_), "\n" }
sub jsv_send_error   { jsv_send_command('ERROR', @_) }
sub jsv_send_env     { jsv_send_command('SEND ENV') }

sub jsv_log_info    { jsv_send_command('LOG INFO', @_) }
sub jsv_log_warning { jsv_send_command('LOG WARNING', @_) }
sub jsv_log_error   { jsv_send_command('LOG ERROR', @_) }

# jsv_on_start and jsv_on_verify take the function to call.
sub jsv_on_start  { $on_start  = shift }
sub jsv_on_verify { $on_verify = shift }

# The result for a job, one of them for each.
sub jsv_accept      { jsv_send_command('RESULT STATE ACCEPT',      @_) }
sub jsv_correct     { jsv_send_command('RESULT STATE CORRECT',     @_) }
sub jsv_reject      { jsv_send_command('RESULT STATE REJECT',      @_) }
sub jsv_reject_wait { jsv_send_command('RESULT STATE REJECT_WAIT', @_) }

sub _keep {
   my ($name, $value) = @_;
   if (!$is_list{$name}) { $params{$name} = $value; return }
   my %elements;
   $order{$name} = [];
   for my $e (split /,/, $value) {
      my ($key, $v) = split /=/, $e, 2;
      push @{ $order{$name} }, $key unless exists $elements{$key};
      $elements{$key} = $v;
   }
   $params{$name} = \%elements;
}

# _text is a parameter as it is sent.
sub _text {
   my $v = $params{ $_[0] };
   return $v unless ref $v;
   return join ',', map { defined $v->{$_} && $v->{$_} ne '' ? "$_=$v->{$_}" : $_ } grep { exists $v->{$_} } @{ $order{ $_[0] } };
}

sub jsv_get_param_hash { return %params }
sub jsv_is_param       { return exists $params{ $_[0] } }
sub jsv_get_param      { return $params{ $_[0] } }

sub jsv_set_param {
   my ($name, $value) = @_;
   return jsv_del_param($name) if !defined $value || $value eq '';
   _keep($name, $value);
   jsv_send_command('PARAM', $name, $value);
}

sub jsv_del_param {
   delete $params{ $_[0] };
   delete $order{ $_[0] };
   jsv_send_command('PARAM', $_[0]);
}

sub jsv_sub_is_param {
   my ($name, $key) = @_;
   return ref $params{$name} && exists $params{$name}{$key};
}

sub jsv_sub_get_param {
   my ($name, $key) = @_;
   return jsv_sub_is_param($name, $key) ? $params{$name}{$key} : undef;
}

sub jsv_sub_add_param {
   my ($name, $key, $value) = @_;
   push @{ $order{$name} }, $key unless jsv_sub_is_param($name, $key);
   $params{$name} = {} unless ref $params{$name};
   $params{$name}{$key} = $value;
   jsv_send_command('PARAM', $name, _text($name));
}

sub jsv_sub_del_param {
   my ($name, $key) = @_;
   return unless jsv_sub_is_param($name, $key);
   delete $params{$name}{$key};
   $order{$name} = [ grep { $_ ne $key } @{ $order{$name} } ];
   return jsv_del_param($name) unless %{ $params{$name} };
   jsv_send_command('PARAM', $name, _text($name));
}

sub jsv_get_env_hash { return %envs }
sub jsv_is_env       { return exists $envs{ $_[0] } }
sub jsv_get_env      { return $envs{ $_[0] } }
sub jsv_add_env { $envs{ $_[0] } = $_[1]; jsv_send_command('ENV ADD', @_) }
sub jsv_mod_env { $envs{ $_[0] } = $_[1]; jsv_send_command('ENV MOD', @_) }
sub jsv_del_env { delete $envs{ $_[0] }; jsv_send_command('ENV DEL', $_[0]) }

sub jsv_show_params { jsv_log_info("got param: $_=" . (_text($_) // '')) for sort keys %params }
sub jsv_show_envs   { jsv_log_info("got env: $_=$envs{$_}")              for sort keys %envs }

# jsv_main reads what qsub or qmaster says until it says QUIT.
sub jsv_main {
   while (my $line = <STDIN>) {
      chomp $line;
      my ($command, $rest) = split / /, $line, 2;
      next unless defined $command && $command ne '';
      $rest = '' unless defined $rest;
      if ($command eq 'START') {
         %params = %order = %envs = ();
         $on_start->();
         jsv_send_command('STARTED');
      } elsif ($command eq 'PARAM') {
         my ($name, $value) = split / /, $rest, 2;
         _keep($name, defined $value ? $value : '');
      } elsif ($command eq 'ENV') {
         my (undef, $name, $value) = split / /, $rest, 3;
         $envs{$name} = defined $value ? $value : '';
      } elsif ($command eq 'BEGIN') {
         $on_verify->();
      } elsif ($command eq 'SHOW') {
         jsv_show_params();
         jsv_show_envs();
      } elsif ($command eq 'QUIT') {
         return;
      } else {
         jsv_send_error("unknown command \"$command\"");
      }
   }
}

1;
