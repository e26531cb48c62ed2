"""What runs are told, one file for each part.

System prompt: `charter` for all, then `charter_work` or `charter_reply`, then `codex` for codex.
Prompt: the request, `memory` if there is any, and the lane's rules: `work` with `work_ticket`,
`work_worktree` or `work_unsupplied`, and `work_codex`; or one of `reply`, `inbox`, `coord`,
`sweep` and `intro`. `delivery` ends all of them, and `recovery` goes around a prompt as a whole.
"""
