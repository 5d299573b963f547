%% SPDX-License-Identifier: Apache-2.0
%% Two functions that take 60 and 40 hundredths of the time, for so many seconds.
-module(shares).
-export([main/1]).

main([Seconds]) ->
    End = erlang:monotonic_time(millisecond) + list_to_integer(Seconds) * 1000,
    io:format("ready~n"),
    turn(End),
    halt().

turn(End) ->
    sixty(600000, 0),
    forty(400000, 0),
    case erlang:monotonic_time(millisecond) < End of
        true -> turn(End);
        false -> ok
    end.

sixty(0, X) -> X;
sixty(N, X) -> sixty(N - 1, (X * 7 + N) band 65535).

forty(0, X) -> X;
forty(N, X) -> forty(N - 1, (X * 7 + N) band 65535).
