"""What perception models see in photographs."""
