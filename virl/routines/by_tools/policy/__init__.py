"""The rules over tools: they read an intention, call tools, and go by nothing but what the tools return.

`goals` reads the intention, `hands` says what a plan is, `places`, `ways`,
`streets` and `views` are the plans, `turns` plays them.
"""
