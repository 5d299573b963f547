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
    sixty(),
    forty(),
    case erlang:monotonic_time(millisecond) < End of
        true -> turn(End);
        false -> ok
    end.

%% One loop for both, as the place of a loop in its cache lines can make its turns slower. No tail calls, which would
%% have no frame.
sixty() -> 1 + spin(600000, 0).

forty() -> 1 + spin(400000, 0).

spin(0, X) -> X;
spin(N, X) -> spin(N - 1, (X * 7 + N) band 65535).
