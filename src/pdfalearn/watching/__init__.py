"""Watching: sessions scored one by one, thresholds that promise something, and alarms."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.watching.log_lines import LogReader as LogReader
    from pdfalearn.watching.logged_sessions import LoggedSessions as LoggedSessions
    from pdfalearn.watching.logged_sessions import learn_log as learn_log
    from pdfalearn.watching.logged_sessions import read_log as read_log
    from pdfalearn.watching.monitor import Monitor as Monitor
    from pdfalearn.watching.reaching import event_probabilities as event_probabilities
    from pdfalearn.watching.session_scores import SessionScores as SessionScores
    from pdfalearn.watching.session_scores import score_sessions as score_sessions
    from pdfalearn.watching.thresholds import Alarm as Alarm
    from pdfalearn.watching.thresholds import Thresholds as Thresholds
    from pdfalearn.watching.thresholds import calibrate as calibrate
    from pdfalearn.watching.watched_files import Watch as Watch

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.watching.following import Follower as Follower
    from pdfalearn.watching.log_lines import MASKS as MASKS
    from pdfalearn.watching.session_scores import OTHER as OTHER
    from pdfalearn.watching.session_scores import SCORES as SCORES
    from pdfalearn.watching.thresholds import TOO_NEAR as TOO_NEAR
    from pdfalearn.watching.watched_files import check_can_watch as check_can_watch
    from pdfalearn.watching.watcher import AlarmFile as AlarmFile
    from pdfalearn.watching.watcher import JsonEvents as JsonEvents
    from pdfalearn.watching.watcher import Watcher as Watcher
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
