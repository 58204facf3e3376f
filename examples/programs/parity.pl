#!/usr/bin/env perl
# A program as a model: after an odd number of b a word may not end.
use strict;
use warnings;

$| = 1;    # flush after each line
while (my $line = <STDIN>) {
    my @words = $line =~ /\[([^\[\]]*)\]/g;    # what stands in the inner brackets
    my @rows = map { my $odd = tr/b// % 2; $odd ? "[0, 0.5, 0.5]" : "[0.4, 0.3, 0.3]" } @words;
    print '{"rows": [', join(", ", @rows), "]}\n";
}
