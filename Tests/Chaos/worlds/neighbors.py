"""Other programs that put, change and remove files in outboxes."""
import contextlib
import os

from mill import rename_new
from worlds import sources


class Neighbors:
    """The steps that touch an outbox."""

    def do_foreign(self, who, name, number, how):
        path = os.path.join(self.household.outbox_of(who), name)
        data = b"FOREIGN %d" % number if number % 2 else sources.png((250, 251, 252), comment=b"FOREIGN %d" % number)
        return self.put_foreign(path, data, how)

    def put_foreign(self, path, data, how):
        with self.lock:
            self.foreign_digests.add(sources.sha(data))
            first = os.path.join(os.path.dirname(path), ".foreign")
            try:
                if how == "in place":
                    # Only what nobody works on any more: a program that saves into a file at the moment at which another one replaces it loses.
                    if not os.path.isfile(path):
                        return False
                    with open(path, "r+b", buffering=0) as file:
                        self.touched.add(path)
                        file.truncate(0)
                        file.write(data)
                        if os.fstat(file.fileno()).st_nlink == 0:
                            return False
                else:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    self.household.own(os.path.dirname(path))
                    with open(first, "wb") as file:
                        file.write(data)
                    self.household.own(first)
                    if how == "new":
                        rename_new(os.fsencode(first), os.fsencode(path))
                    else:
                        os.rename(first, path)
                    self.touched.add(path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(first)
                return False
            self.foreign[path] = data

    def do_change_foreign(self, number, chance, how):
        with self.lock:
            paths = sorted(path for path, data in self.foreign.items() if data is not None)
            if not paths:
                return False
            path = paths[int(chance * len(paths))]
            if how == "remove":
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                self.foreign[path] = None
            else:
                return self.put_foreign(path, b"FOREIGN %d, again" % number, how)

    def do_remove_output(self, who, name):
        path = os.path.join(self.household.outbox_of(who), name)
        with self.lock:
            if not os.path.isfile(path):
                return False
            self.touched.add(path)
            os.unlink(path)
            self.foreign.pop(path, None)
