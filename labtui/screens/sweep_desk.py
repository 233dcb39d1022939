"""The sweep under way. It belongs to no screen: it goes on, and is kept, when its screen is left."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from labtui.run_progress import ESTIMATED_FROM, usual_seconds
from labtui.screens.desk import Desk, the_desk
from labtui.sweep_progress import SweepMoment, SweepOrder, SweepOutcome, SweepTeller
from labtui.sweeping import rest_of, sweep_and_keep, sweep_points

if TYPE_CHECKING:
    from exercises.sweep import Sweep
    from labtui.app import LabApp


class SweepDesk(Desk[SweepOrder, SweepMoment, SweepOutcome]):
    def first_moment(self, order: SweepOrder) -> SweepMoment:
        return SweepMoment(order)

    def words(self, progress: SweepMoment) -> str:
        return progress.words(self.lab.now())

    def carry_out(self, order: SweepOrder, cancel: threading.Event) -> SweepOutcome:
        teller = SweepTeller(order, self.lab.now, self.post_moment)
        try:
            sweep = self._sweep(order, teller, cancel)
        except Exception as fault:
            return SweepOutcome(teller.moment, None, fault)
        return SweepOutcome(teller.moment, sweep, sweep.error)

    def _sweep(self, order: SweepOrder, teller: SweepTeller, cancel: threading.Event) -> Sweep:
        endpoint = self.lab.supervisor.endpoint()
        points = (
            sweep_points(order.axis, endpoint, order.task_id, order.wanted)
            if order.earlier is None
            else rest_of(order.earlier, endpoint)
        )
        books = self.lab.books
        earlier = books.submit(
            lambda store: store.runs.list(checkpoint=endpoint.checkpoint, limit=ESTIMATED_FROM)
        ).result()
        teller.known(endpoint.checkpoint, endpoint.practice)
        return sweep_and_keep(
            order.axis,
            points,
            endpoint,
            lambda run: books.submit(lambda store: store.runs.add(run)).result(),
            lambda document: books.submit(lambda store: store.sweeps.save(document)).result(),
            rounds=order.rounds,
            warmup=order.warmup,
            usual_s=usual_seconds(earlier),
            on_event=teller.tell,
            cancel=cancel,
            earlier=order.earlier,
        )


def sweep_desk_of(app: LabApp) -> SweepDesk:
    return the_desk(app, SweepDesk)
