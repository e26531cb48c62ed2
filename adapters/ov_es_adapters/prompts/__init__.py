"""What each lane is told, as files: charter.md for all, then the lane's own, then the recovery's."""
